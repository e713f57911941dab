"""Which tester tests which law, how near its answers must be, and what a near tie between experts excuses."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

import torch

from clearformer import spec as s
from clearformer.laws import Law, LawName, laws
from law_testers import order, rows, symmetry
from law_testers.conditioning import FLOAT32_MOVES, moves
from law_testers.subject import NEAR, TOLERANCE, Pair, Subject, extent, gap, make_subject, margins

TESTERS: dict[LawName, Callable[[Law, Subject], Iterator[Pair]]] = {
    "determinism": rows.determinism,
    "batch independence": rows.batch_independence,
    "padding independence": rows.padding_independence,
    "causality": order.causality,
    "cache equality": order.cache_equality,
    "chunk equality": order.chunk_equality,
    "window reach": order.window_reach,
    "offset independence": symmetry.offset_independence,
    "permutation equivariance": symmetry.permutation_equivariance,
    "level equivariance": symmetry.level_equivariance,
}


def check(law: Law, subject: Subject) -> bool:
    """Test one law; False where experts tied, which the law leaves out: nearly in float32, exactly in float64."""
    tester, start = TESTERS[law.name], copy.deepcopy(subject.rng)
    with margins() as won:
        pairs = list(tester(law, subject))
    # Bit for bit, or up to rounding.
    share = 0.0 if law.name == "determinism" else TOLERANCE[subject.dtype]
    gaps, bounds = [gap(*pair) for pair in pairs], [share * extent(expected) for _, expected in pairs]
    if _within(gaps, bounds):
        return True
    if "no ties between experts" in law.conditions and min(won, default=1.0) < NEAR[subject.dtype]:
        return False
    if share and subject.dtype == torch.float32:
        moved = moves(lambda nudge: [expected.numpy() for _, expected in tester(law, subject.nudged(nudge, start))])
        # Both answers of a pair are float32's, and each may lie off by its own rounding.
        bounds = [max(bound, 2 * FLOAT32_MOVES * by) for bound, by in zip(bounds, moved, strict=True)]
    assert _within(gaps, bounds), f"{law.name} does not hold: the answers differ by {gaps}, allowed were {bounds}"
    return True


def _within(gaps: list[float], bounds: list[float]) -> bool:
    return all(gap <= bound for gap, bound in zip(gaps, bounds, strict=True))


def check_all(spec: s.Spec, seed: int, dtype: torch.dtype) -> list[str]:
    """The names of the laws that were tested."""
    subject = make_subject(spec, seed, dtype)
    return [law.name for law in laws(spec) if check(law, subject)]
