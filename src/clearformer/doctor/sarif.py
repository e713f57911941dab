"""A diagnosis as SARIF 2.1.0 (OASIS standard), which code hosts show beside the lines it speaks of."""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from pathlib import Path
from urllib.parse import quote

from clearformer.doctor.causes.table import CAUSES
from clearformer.doctor.diagnosis import Diagnosis
from clearformer.doctor.finding import Finding
from clearformer.doctor.registry import BY_ID
from clearformer.doctor.report import told

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {"ERROR": "error", "WARN": "warning", "INFO": "note"}
_PLACE = re.compile(r"\(([^()]+):(\d+)\)")


def write_sarif(path: Path, found: Diagnosis, target: str) -> Path:
    """Write the log; folders on the way are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(sarif(found, target), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return path


def sarif(found: Diagnosis, target: str) -> dict[str, object]:
    """The log, in English: one run, a rule for each check that speaks, a result for each finding."""
    checks = list(dict.fromkeys(finding.check for finding in found.findings))
    driver = {
        "name": "clearformer doctor",
        "version": version("clearformer"),
        "rules": [_rule(check) for check in checks],
    }
    left_out = [{"level": "note", "message": {"text": f"{each.check}: {each.why.text()}"}} for each in found.skipped]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": left_out}],
                "results": [_result(finding, checks, target) for finding in found.findings],
            }
        ],
    }


def _rule(check: str) -> dict[str, object]:
    if check not in BY_ID:
        return {"id": check}
    known = BY_ID[check]
    return {
        "id": check,
        "name": "".join(word.capitalize() for word in known.name.replace("-", " ").split()),
        "shortDescription": {"text": known.law.text()},
        "fullDescription": {"text": f"{known.law.text()} {known.risk.text()}"},
    }


def _result(finding: Finding, checks: list[str], target: str) -> dict[str, object]:
    words = told(finding, "en")
    evidence = "; ".join(words.evidence)
    text = f"{words.meaning} Evidence: {evidence}. Mend: {words.fix}"
    return {
        "ruleId": finding.check,
        "ruleIndex": checks.index(finding.check),
        "level": LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [_location(finding.where, target)],
        "partialFingerprints": {"lawAndCause/v1": f"{finding.check}/{finding.cause}/{finding.where or ''}"},
        "properties": {"cause": finding.cause, "confirmed": finding.confirmed, "rivals": list(finding.rivals)},
        **({} if CAUSES[finding.cause].mend is None else {"rank": 100.0 if finding.confirmed else 50.0}),
    }


def _location(where: str | None, target: str) -> dict[str, object]:
    """The user's line where it is known, else the file or folder that was examined."""
    place = _PLACE.search(where) if where is not None else None
    examined = target.rpartition(":")[0] or target
    uri, line = (_beside(examined, place[1]), int(place[2])) if place else (examined, 1)
    module = where.partition(" (")[0] if where is not None else ""
    logical = {"logicalLocations": [{"fullyQualifiedName": module, "kind": "module"}]} if module else {}
    return {
        "physicalLocation": {"artifactLocation": {"uri": _uri(uri)}, "region": {"startLine": max(line, 1)}},
        **logical,
    }


def _beside(examined: str, name: str) -> str:
    """A place in code names its file alone: it is the one that was examined, or lies beside that."""
    found = Path(examined).with_name(name) if examined.endswith(".py") else Path(name)
    return str(found) if found.name == Path(examined).name or found.is_file() else name


def _uri(path: str) -> str:
    """A path as a reference: relative to the current folder where it lies below."""
    given = Path(path)
    if given.is_absolute() and given.is_relative_to(Path.cwd()):
        given = given.relative_to(Path.cwd())
    return given.as_uri() if given.is_absolute() else quote(given.as_posix())
