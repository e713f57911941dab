"""What the differences mean: none, rounding, or a fault; and which tensor is the first that rounding cannot explain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from clearformer.verify.recording import Reference, Row, on_the_stream

Verdict = Literal["equal", "rounding", "bug"]

ALLOWED = 4.0
"""Noise is measured on a few variations; a fault-free model stays within this many times what they show."""

_JUMP = 16.0
"""Rounding grows from layer to layer by small factors; a fault that is smaller than the allowance comes at once."""
_LAYERS_BEFORE = 2


def judge(rows: Sequence[Row], reference: Reference) -> tuple[Verdict, Row | None]:
    """The verdict, and for a bug the first tensor that shows it.

    The residual stream and the answer decide. Inside a block two right models may keep heads or rotary pairs in another
    order; where they also part behind it, the first tensor inside that does so tells most.
    """
    stream = [row for row in rows if on_the_stream(row.name)]
    if (parting := first_beyond(stream)) is not None:
        before = rows[: rows.index(parting) + 1]
        return "bug", next(row for row in before if not row.ratio <= ALLOWED or row is parting)
    return ("equal" if all(map(reference.equal, stream)) else "rounding"), None


def first_beyond(stream: Sequence[Row]) -> Row | None:
    """The first tensor whose difference is more than noise allows, or that jumps where those before did not."""
    highest = 0.0
    for layers, row in enumerate(stream):
        if not row.ratio <= ALLOWED:
            return row
        if layers >= _LAYERS_BEFORE and row.ratio > 1 and row.ratio > _JUMP * highest:
            return row
        highest = max(highest, row.ratio)
    return None


def apart_inside(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Tensors within blocks that lie further apart than noise allows."""
    return tuple(row for row in rows if not on_the_stream(row.name) and not row.ratio <= ALLOWED)
