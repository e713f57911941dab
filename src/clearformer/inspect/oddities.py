"""What is odd about a tensor, in words: numbers that are none, softmax saturated or flat, scores out of scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from clearformer.messages import Language
from clearformer.messages import inspect as messages

Kind = Literal["not_finite", "saturated", "sink", "uniform", "wide_scores", "narrow_scores"]

SATURATED = 0.99
"""A head whose rows give their strongest key this share on average lets no gradient through its softmax."""
UNIFORM = 0.99
"""A head whose rows have this share of the largest entropy chooses nothing."""
WIDE, NARROW = 5.0, 0.2
"""Scaled scores of a fresh model deviate by about 1 (Vaswani et al. 2017 §3.2.1, footnote 4)."""

# Rows with fewer visible keys have little to choose among.
_FEWEST_KEYS = 3


@dataclass(frozen=True)
class Odd:
    """One finding: `kind` is stable; `heads` are those concerned, none where it concerns the whole tensor."""

    kind: Kind
    value: float
    heads: tuple[int, ...] = ()
    of: int = 0

    def text(self, language: Language) -> str:
        """The finding as a sentence."""
        numbers = ", ".join(map(str, self.heads))
        which = messages.SOME_HEADS if len(self.heads) > 1 else messages.ONE_HEAD
        which = messages.ALL_HEADS if len(self.heads) == self.of else which
        return messages.ODD[self.kind].text(language, value=self.value, which=which, heads=numbers)


def not_finite(value: Tensor, *, hidden: bool = False) -> tuple[Odd, ...]:
    """NaN and infinity; where `hidden`, −∞ is what a mask writes and no fault."""
    bad = ~torch.isfinite(value)
    if hidden:
        bad &= value != -math.inf
    count = int(bad.sum())
    return (Odd("not_finite", count / max(1, value.numel())),) if count else ()


def of_scores(masked: Float[Tensor, "B H T S"]) -> tuple[Odd, ...]:
    """Visible scores that deviate by far more or less than 1, row by row: a row's mean changes no weight."""
    seen = masked > -math.inf
    enough = seen.sum(-1) >= _FEWEST_KEYS
    if not bool(enough.any()):
        return ()
    count = seen.sum(-1).clamp(min=1)
    visible = masked.double().masked_fill(~seen, 0.0)
    mean = visible.sum(-1) / count
    squares = ((visible - mean[..., None]).square() * seen).sum(-1) / count
    deviation = float(squares[enough].mean().sqrt())
    if deviation > WIDE:
        return (Odd("wide_scores", deviation),)
    return (Odd("narrow_scores", deviation),) if deviation < NARROW else ()


def of_weights(weights: Float[Tensor, "B H T S"], masked: Float[Tensor, "B H T S"]) -> tuple[Odd, ...]:
    """Heads whose rows all but name one key, and heads whose rows choose none."""
    keys = (masked > -math.inf).sum(-1)
    enough = keys >= _FEWEST_KEYS
    if not bool(enough.any()):
        return ()
    # Averages over the batch and the queries that have a choice, head by head.
    share = enough.double() / enough.double().sum((0, 2), keepdim=True).clamp(min=1)
    exact = weights.double()
    most, key = exact.max(-1)
    strongest = (most * share).sum((0, 2))
    on_first = ((key == 0) * share).sum((0, 2)) > 0.5
    entropy = -torch.special.xlogy(exact, exact).sum(-1) / keys.clamp(min=2).double().log()
    flatness = (entropy * share).sum((0, 2))
    saturated = strongest > SATURATED
    kinds: tuple[tuple[Kind, Tensor, Tensor], ...] = (
        ("sink", saturated & on_first, strongest),
        ("saturated", saturated & ~on_first, strongest),
        ("uniform", flatness > UNIFORM, flatness),
    )
    found = []
    for kind, which, value in kinds:
        if bool(which.any()):
            heads = tuple(int(head) for head in which.nonzero()[:, 0])
            found.append(Odd(kind, float(value[which].mean()), heads, len(which)))
    return tuple(found)
