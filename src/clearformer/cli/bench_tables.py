"""Figures of programs side by side, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from clearformer.cli.screen import Screen
from clearformer.messages import bench as say

if TYPE_CHECKING:
    from clearformer.bench.rounds import Row


def tell_rows(rows: Sequence[Row], about: dict[str, Any], screen: Screen) -> None:
    screen.say(say.MACHINE, **{**about, "transformers": about["transformers"] or "–"})
    headings = (say.CONTESTANT, say.UNIT, say.MEDIAN, say.LOW, say.HIGH, say.RATIO)
    cells = [
        [row.name, row.unit, *(f"{n:.1f}" for n in (row.median, row.low, row.high)), _ratio(row.ratio)] for row in rows
    ]
    screen.table(cells, [heading.text(screen.language) for heading in headings])


def _ratio(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio:.2f}×"
