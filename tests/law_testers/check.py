"""Which tester tests which law, and what a near tie between experts excuses."""

from __future__ import annotations

from collections.abc import Callable

import torch

from clearformer import spec as s
from clearformer.laws import Law, LawName, laws
from law_testers import order, rows, symmetry
from law_testers.subject import MARGIN, TIE, Subject, make_subject, margins

TESTERS: dict[LawName, Callable[[Law, Subject], None]] = {
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
    with margins() as won:
        try:
            TESTERS[law.name](law, subject)
        except AssertionError as error:
            near = TIE if subject.dtype == torch.float64 else MARGIN
            if "no ties between experts" not in law.conditions or min(won, default=1.0) >= near:
                error.add_note(f"the law broken: {law.name}")
                raise
            return False
    return True


def check_all(spec: s.Spec, seed: int, dtype: torch.dtype) -> list[str]:
    """The names of the laws that were tested."""
    subject = make_subject(spec, seed, dtype)
    return [law.name for law in laws(spec) if check(law, subject)]
