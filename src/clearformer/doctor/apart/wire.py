"""Results as lines of JSON. What arrives was written by a process that ran foreign code: it is checked like any input.

A sentence travels in both languages with its values filled in, since values may be anything.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, get_args

from clearformer.doctor.causes.table import CAUSES
from clearformer.doctor.diagnosis import Diagnosis
from clearformer.doctor.finding import SEVERITIES, Breach, Finding, Said, Severity, Skipped
from clearformer.doctor.telling import Called, Checked, Deciding, Starting, Told
from clearformer.errors import ClearformerError
from clearformer.messages import Failure, verbatim

LONGEST_LINE = 4 << 20
_LONGEST_TEXT = 4000
_MOST = 500


class NotOurs(ValueError):  # noqa: N818 – told apart from other faults by its name
    """A line that no doctor wrote."""


def line(event: str, content: Mapping[str, object]) -> bytes:
    """One event."""
    return json.dumps({"event": event, **content}, allow_nan=False).encode() + b"\n"


def told_line(told: Told) -> bytes:
    match told:
        case Called():
            return line("called", {"how": _said(told.how), "floor": told.floor})
        case Starting():
            return line("starting", {"check": told.check, "done": told.done, "total": told.total})
        case Checked():
            breaches = [_breach(each) for each in told.breaches]
            skipped = None if told.skipped is None else _said(told.skipped)
            return line("checked", {"check": told.check, "breaches": breaches, "skipped": skipped})
        case Deciding():
            return line("deciding", {})


def diagnosis_line(found: Diagnosis) -> bytes:
    content = {
        "findings": [
            {
                "cause": each.cause,
                "severity": each.severity,
                "breaches": [_breach(breach) for breach in each.breaches],
                "rivals": list(each.rivals),
                "confirmed": each.confirmed,
                "place": each.place,
            }
            for each in found.findings
        ],
        "skipped": [{"check": each.check, "why": _said(each.why)} for each in found.skipped],
        "passed": list(found.passed),
        "called": None if found.called is None else _said(found.called),
        "floor": found.floor,
        "notes": [_said(each) for each in found.notes],
    }
    return line("diagnosis", content)


def error_line(error: ClearformerError) -> bytes:
    sides = {language: (error.cause(language), error.remedy(language)) for language in ("en", "zh")}
    return line("error", {"kind": error.kind, **sides})


def read(text: bytes) -> tuple[str, dict[str, Any]]:
    """An event's name and content. Raises NotOurs."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise NotOurs from None
    if not isinstance(found, dict) or not isinstance(found.get("event"), str):
        raise NotOurs
    return found["event"], found


def read_told(event: str, content: Mapping[str, Any]) -> Told | None:
    """What was told; None for another event. Raises NotOurs."""
    try:
        match event:
            case "called":
                return Called(_read_said(content["how"]), _read_floor(content["floor"]))
            case "starting":
                return Starting(_word(content["check"]), int(content["done"]), int(content["total"]))
            case "checked":
                skipped = content["skipped"]
                breaches = tuple(_read_breach(each) for each in content["breaches"][:_MOST])
                return Checked(_word(content["check"]), breaches, None if skipped is None else _read_said(skipped))
            case "deciding":
                return Deciding()
    except (KeyError, TypeError, ValueError, AttributeError):
        raise NotOurs from None
    return None


def read_diagnosis(content: Mapping[str, Any]) -> Diagnosis:
    """Raises NotOurs."""
    try:
        called = content["called"]
        return Diagnosis(
            findings=tuple(_read_finding(each) for each in content["findings"][:_MOST]),
            skipped=tuple(
                Skipped(_word(each["check"]), _read_said(each["why"])) for each in content["skipped"][:_MOST]
            ),
            passed=tuple(_word(each) for each in content["passed"][:_MOST]),
            called=None if called is None else _read_said(called),
            floor=_read_floor(content["floor"]),
            notes=tuple(_read_said(each) for each in content["notes"][:_MOST]),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise NotOurs from None


def read_failure(content: Mapping[str, Any]) -> tuple[str, Failure]:
    """An error's kind and its words. Raises NotOurs."""
    try:
        cause, remedy = (verbatim(_text(content["en"][i]), _text(content["zh"][i])) for i in (0, 1))
        return _word(content["kind"]), Failure(cause, remedy)
    except (KeyError, TypeError, IndexError, ValueError):
        raise NotOurs from None


def _said(said: Said) -> dict[str, str]:
    return {"en": said.text("en"), "zh": said.text("zh")}


def _read_said(found: Mapping[str, Any]) -> Said:
    return Said(verbatim(_text(found["en"]), _text(found["zh"])))


def _breach(breach: Breach) -> dict[str, object]:
    return {
        "check": breach.check,
        "severity": breach.severity,
        "evidence": [_said(each) for each in breach.evidence],
        "suspects": list(breach.suspects),
        "where": breach.where,
    }


def _read_breach(found: Mapping[str, Any]) -> Breach:
    suspects = tuple(_word(each) for each in found["suspects"][:_MOST])
    if not suspects or not set(suspects) <= CAUSES.keys():
        raise NotOurs
    return Breach(
        _word(found["check"]),
        _severity(found["severity"]),
        tuple(_read_said(each) for each in found["evidence"][:_MOST]),
        suspects,
        None if found["where"] is None else _text(found["where"]),
    )


def _read_finding(found: Mapping[str, Any]) -> Finding:
    rivals = tuple(_word(each) for each in found["rivals"][:_MOST])
    breaches = tuple(_read_breach(each) for each in found["breaches"][:_MOST])
    if not breaches or not {found["cause"], *rivals} <= CAUSES.keys():
        raise NotOurs
    place = None if found["place"] is None else _text(found["place"])
    return Finding(found["cause"], _severity(found["severity"]), breaches, rivals, bool(found["confirmed"]), place)


def _read_floor(found: object) -> float | None:
    if found is not None and not isinstance(found, int | float):
        raise NotOurs
    return None if found is None or not math.isfinite(found) else float(found)


def _severity(found: object) -> Severity:
    for known in get_args(Severity):
        if found == known:
            return SEVERITIES[SEVERITIES.index(known)]
    raise NotOurs


def _word(found: object) -> str:
    if not isinstance(found, str) or len(found) > 200:
        raise NotOurs
    return _text(found)


def _text(found: object) -> str:
    """Control characters are shown, never sent to a terminal; a lone surrogate has no UTF-8."""
    if not isinstance(found, str):
        raise NotOurs
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in found[:_LONGEST_TEXT])
