"""Bytes that training holds: weights, gradients, the optimizer's, and activations; and those that answering needs.

Weights of two bytes are trained with a copy in float32 beside them and moments in float32, so that Adam takes 16 bytes
a parameter either way (Rajbhandari et al. 2019 §3.1, arXiv 1910.02054).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from clearformer.cost.activations import Activations, activations
from clearformer.cost.formula import ZERO, Formula, letter, number
from clearformer.cost.kv_cache import kv_cache
from clearformer.cost.parameters import by_part, parameters
from clearformer.cost.weights import Weight
from clearformer.cost.work import Dtype, Optimizer, Work
from clearformer.spec import Spec

_MOMENT = 4


@dataclass(frozen=True)
class Memory:
    """In bytes. `total` is held where gradients are kept from one pass to the next; `peak` is the fullest moment of an
    update of one pass, whose gradients arise while activations go. `answering` is weights and cache."""

    weights: Formula
    gradients: Formula
    optimizer: Formula
    activations: Activations
    head_gradient: int
    answering: int

    @property
    def state(self) -> int:
        """What is held whatever is read."""
        return self.weights.value + self.gradients.value + self.optimizer.value

    @property
    def total(self) -> int:
        return self.state + self.activations.bytes

    @property
    def peak(self) -> int:
        """The loss's gradients come first, then the head's weights' with the last block's, and at the end all gradients
        and no activation."""
        held = self.activations
        moments = (held.loss.value, held.backward.value + self.head_gradient)
        fullest = max(held.blocks.value + max(moments), self.gradients.value)
        return self.weights.value + self.optimizer.value + fullest


def memory(spec: Spec, work: Work) -> Memory:
    """For the work's kernel and recomputing."""
    count = letter("N", parameters(spec).total)
    held = activations(spec, work, kernel=work.kernel, recompute=work.recompute)
    weights = number(work.bytes_each) * count
    return Memory(
        weights,
        weights,
        optimizer_state(count, letter("M", block_matrices(spec)), work.optimizer, work.dtype),
        held,
        head_gradient(spec) * work.bytes_each,
        weights.value + kv_cache(spec, work).whole.value,
    )


def optimizer_state(count: Formula, matrices: Formula, choice: Optimizer, dtype: Dtype) -> Formula:
    """Two moments a parameter; Muon keeps one for each of the `matrices` in the blocks. And the copy, where there is
    one."""
    copy = number(4) * count if dtype in ("float16", "bfloat16") else ZERO
    moment = number(8 if dtype == "float64" else _MOMENT)
    match choice:
        case "adam" | "adamw":
            return copy + moment * (count + count)
        case "muon":
            return copy + moment * (count + count - matrices)
        case _:
            assert_never(choice)


def block_matrices(spec: Spec) -> int:
    """Numbers in the matrices of the blocks: what Muon moves."""

    def of(weight: Weight) -> Formula:
        return weight.kept if weight.kind == "matrix" else ZERO

    inside = ("attention", "cross_attention", "feedforward", "router")
    return sum(amount.value for part, amount in by_part(spec, of).items() if part.rpartition(".")[2] in inside)


def head_gradient(spec: Spec) -> int:
    """Numbers of the gradient that a language head's table gets first, while all blocks still hold what they keep."""

    def products(weight: Weight) -> Formula:
        return weight.count if weight.kind == "matrix" and weight.reads == "answers" else ZERO

    return sum(amount.value for amount in by_part(spec, products).values())
