"""A verification as a table in the user's language, and as the object that `--json` prints."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator
from typing import Any

from clearformer.errors import UsageError
from clearformer.messages import Language
from clearformer.messages import inspect as messages_of_inspect
from clearformer.messages import verify as messages
from clearformer.verify.hypotheses import HYPOTHESES
from clearformer.verify.recording import Row
from clearformer.verify.verdict import ALLOWED
from clearformer.verify.verifying import Verification

_IN_A_BLOCK = re.compile(r"(?:\w+\.)*blocks\.(\d+)\.(.+)")

HEADINGS = (messages.TENSOR, messages.MAX_ABS, messages.REL, messages.NOISE, messages.TIMES)


def facts(found: Verification, language: Language = "en") -> dict[str, Any]:
    """Every compared tensor. A number is None where it is not finite."""
    return {
        "model": found.name,
        "against": found.against,
        "verdict": found.verdict,
        "max_abs": _finite(found.max_abs),
        "first_difference": found.first_difference,
        "hypothesis": found.hypothesis,
        "fault": fault(found, language),
        "positions": found.positions,
        "layers": [
            {"name": row.name, "max_abs": _finite(row.max_abs), "rel": _finite(row.rel), "noise": row.floor}
            for row in found.rows
        ],
        "measured": [messages.VARIATIONS[name].text(language) for name in found.measured],
        "notes": [message.text(language, **values) for message, values in found.notes],
    }


def heading(found: Verification, language: Language = "en") -> str:
    """What was compared with what."""
    named = messages.REFERENCES.get(found.against)
    against = found.against if named is None else named.text(language)
    values = {"name": found.name, "against": against, "count": len(found.rows), "positions": found.positions}
    return messages.HEADING.text(language, **values)


def cells(found: Verification, opened: Collection[int] | None = ()) -> list[list[str]]:
    """The table's rows: each block as its output alone, but those that are `opened` (None: all) and the one at fault.

    Raises UsageError for a block that there is not.
    """
    numbers = {int(inside[1]) for row in found.rows if (inside := _IN_A_BLOCK.fullmatch(row.name))}
    for number in opened or ():
        if number not in numbers:
            count, last = len(numbers), max(numbers, default=0)
            raise UsageError(messages_of_inspect.NO_LAYER, found=number, count=count, last=last)
    return [_cells(row, found) for row in found.rows if _shown(row, found, opened)]


def after(found: Verification, language: Language = "en") -> Iterator[str]:
    """What stands under the table: the verdict first."""
    yield messages.VERDICTS[found.verdict].text(language, name=found.first_difference, allowed=ALLOWED)
    if (told := fault(found, language)) is not None:
        yield messages.FAULT.text(language, what=told)
    elif found.verdict == "bug":
        tried = (messages.COMMA.text(language)).join(each.meaning.text(language) for each in HYPOTHESES)
        yield messages.UNEXPLAINED.text(language, count=len(HYPOTHESES), names=tried)
    yield ""
    measured = messages.COMMA.text(language).join(messages.VARIATIONS[name].text(language) for name in found.measured)
    yield messages.MEASURED.text(language, exact=found.exact, names=measured or "–")
    for message, values in found.notes:
        yield message.text(language, **values)


def fault(found: Verification, language: Language = "en") -> str | None:
    """What the confirmed hypothesis says, in a sentence."""
    if found.explanation is None:
        return None
    change = found.explanation.change
    return change.what.text(language, **change.values)


def as_text(found: Verification, language: Language = "en") -> str:
    """Plain columns, as wide as they need."""
    rows = [[each.text(language) for each in HEADINGS] + [""], *cells(found)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for name, *numbers in rows:
        padded = (cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True))
        lines.append("  ".join([name.ljust(widths[0]), *padded]))
    return "\n".join([heading(found, language), *(line.rstrip() for line in lines), *after(found, language)])


def _shown(row: Row, found: Verification, opened: Collection[int] | None) -> bool:
    inside = _IN_A_BLOCK.fullmatch(row.name)
    if inside is None or inside[2] == "output" or opened is None or int(inside[1]) in opened:
        return True
    first = _IN_A_BLOCK.fullmatch(found.first_difference or "")
    return first is not None and row.name.startswith(found.first_difference[: first.start(2)])  # type: ignore[index]


def _cells(row: Row, found: Verification) -> list[str]:
    mark = "←" if row.name == found.first_difference else ""
    return [row.name, *(f"{number:.2g}" for number in (row.max_abs, row.rel, row.floor, row.ratio)), mark]


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
