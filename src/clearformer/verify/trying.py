"""Hypotheses tried in turn: each change run until it shows that it does not mend, or to the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from clearformer.errors import ClearformerError
from clearformer.verify.change import Change, Known
from clearformer.verify.hypotheses import HYPOTHESES, Hypothesis
from clearformer.verify.ours import Suspect, finish
from clearformer.verify.reading import Reading
from clearformer.verify.recording import Reference, Row, keeper, on_the_stream, spread
from clearformer.verify.verdict import ALLOWED, first_beyond

Advance = Callable[[int, int], None]


@dataclass(frozen=True)
class Explanation:
    """The hypothesis that mends, and the change that did it."""

    hypothesis: Hypothesis
    change: Change


class _StillApartError(Exception):
    """Thrown out of a pass at the first tensor that is still beyond the noise."""


def explain(
    suspect: Suspect, known: Known, reading: Reading, reference: Reference, advance: Advance
) -> Explanation | None:
    """The first hypothesis under which every layer's difference falls to the noise."""
    for done, hypothesis in enumerate(HYPOTHESES):
        advance(done, len(HYPOTHESES))
        for change in hypothesis.changes(suspect, known):
            noisy = reference.widened(blur(change, suspect, known.resolution, reading)) if change.blurred else reference
            if mends(change.suspect, reading, noisy):
                return Explanation(hypothesis, change)
    return None


def mends(changed: Suspect, reading: Reading, reference: Reference) -> bool:
    """Whether the residual stream behind every block, and the answer, are those of the reference up to noise."""
    rows: list[Row] = []

    def judge(name: str, value: Tensor) -> None:
        if name in reference.tensors and on_the_stream(name):
            seen, keep = keeper(reading.first)
            keep(name, value)
            rows.append(reference.row(name, seen[name]))
            if not rows[-1].ratio <= ALLOWED:
                raise _StillApartError

    try:
        finish(changed.model(), reading, judge)
    except (_StillApartError, ClearformerError):
        # A change may make a spec that cannot read this at all.
        return False
    return bool(rows) and first_beyond(rows) is None


def blur(change: Change, suspect: Suspect, resolution: float, reading: Reading) -> dict[str, float]:
    """How much the stream moves when the change's weights move by half a step of the numbers that they were made of."""
    generator = torch.Generator().manual_seed(0)
    moved = dict(change.suspect.weights)
    for name in sorted(change.blurred):
        signs = torch.randint(2, moved[name].shape, generator=generator) * 2 - 1
        moved[name] = moved[name] + suspect.weights[name].abs() * signs * (resolution / 2)
    passes = []
    for each in (change.suspect, replace(change.suspect, weights=moved)):
        seen, keep = keeper(reading.first, on_the_stream)
        finish(each.model(), reading, keep)
        passes.append(seen)
    return spread(passes[0], passes[1:])
