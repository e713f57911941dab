"""Floating-point operations of the matrix products, two a multiplication with its addition.

Norms, softmax and activations are left out, as `torch.utils.flop_counter` leaves them out: a few per cent. A backward
pass costs each product twice: for its input's gradient and for its weight's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import assert_never

from clearformer.cost.formula import ONE, TWO, ZERO, Formula, halved, letter, number, total
from clearformer.cost.parameters import PARTS, side_sums
from clearformer.cost.sides import over_blocks
from clearformer.cost.weights import Reads, Weight
from clearformer.cost.work import Pass, Work, passes, patches
from clearformer.spec import (
    AnyAttention,
    Attention,
    Block,
    Causal,
    Flatten,
    Full,
    LatentAttention,
    Series,
    Spec,
    TwoTowers,
    Vector,
    Visibility,
    pooling_of,
)


@dataclass(frozen=True)
class Flops:
    """`executed` and `visible` are the products of attention alone, over all pairs of positions and over those that the
    mask lets see each other. `forward` and `training` count what is executed."""

    linear: Mapping[str, Formula]
    executed: Formula
    visible: Formula
    training: int

    @property
    def forward(self) -> int:
        return sum(part.value for part in self.linear.values()) + self.executed.value


def flops(spec: Spec, work: Work) -> Flops:
    """One forward pass over `work`, and one update's forward and backward pass."""
    found = passes(spec, work)
    linear = {name: amount for each in found for name, amount in linear_parts(each).items()}
    if isinstance(spec, TwoTowers):
        linear["comparison"] = _comparison(spec, work)
    executed = total(attention(each, visible=False) for each in found)
    forward = Flops(linear, executed, ZERO, 0).forward
    again = sum(_blocks_alone(each).value for each in found) if work.recompute else 0
    spared = sum(_no_gradient(each).value for each in found)
    return Flops(linear, executed, total(attention(each, visible=True) for each in found), 3 * forward + again - spared)


def linear_parts(each: Pass) -> dict[str, Formula]:
    """The products with weights, part by part."""

    sums = side_sums(
        each.side,
        lambda weight: weight.used * weight.count if weight.kind == "matrix" else ZERO,
        lambda weight: (weight.part, weight.reads),
    )
    products: dict[str, list[Formula]] = {}
    for (part, reads), numbers in sums.items():
        products.setdefault(part, []).append(TWO * rows_read(each, reads) * numbers)
    found = {part: total(products[part]) for part in PARTS if part in products}
    return {each.side.prefix + part: amount for part, amount in found.items() if amount.value}


def rows_read(each: Pass, reads: Reads) -> Formula:
    """How many rows are multiplied by a matrix that reads these."""
    match reads:
        case "nothing":
            return ZERO
        case "patches":
            return each.rows * patches(each)
        case "queries":
            return each.rows * each.queries
        case "keys":
            return each.rows * each.keys
        case "memory":
            return each.rows * each.memory if each.reads_memory else ZERO
        case "answers":
            return each.rows * (each.answers if answers_everywhere(each) else ONE)
        case _:
            assert_never(reads)


def answers_everywhere(each: Pass) -> bool:
    """Heads that pool answer once a sequence."""
    return pooling_of(each.side.head) is None


def attention(each: Pass, *, visible: bool) -> Formula:
    """Scores and the mixing of values of one pass."""

    def pairs(visibility: Visibility) -> Formula:
        return seen(visibility, each.queries, each.keys) if visible else each.queries * each.keys

    return mixing(each, pairs, each.queries * each.memory)


def mixing(each: Pass, pairs: Callable[[Visibility], Formula], across: Formula) -> Formula:
    """2·B·H·(K + U) for each pair of positions, `across` those of a target with its source."""

    def of(block: Block) -> Formula:
        found = TWO * each.rows * pairs(block.attention.visibility) * widths(block.attention)
        if block.cross_attention is not None:
            found = found + TWO * each.rows * across * widths(block.cross_attention)
        return found

    return over_blocks(each.side.stack, of)


def widths(spec: AnyAttention) -> Formula:
    """H·(K + U): what a pair of positions is multiplied over."""
    H, K, U = letter("H", spec.heads), letter("K", spec.key_width), letter("U", spec.value_width)
    match spec:
        case Attention():
            return H * (K + U)
        case LatentAttention():
            return H * (K + letter("R", spec.rotary_width) + U)
        case _:
            assert_never(spec)


def seen(visibility: Visibility, queries: Formula, keys: Formula) -> Formula:
    """Pairs of which the query, one of the last `queries` positions of `keys`, may see the key."""
    T, S = queries.value, keys.value
    match visibility:
        case Full(radius=None):
            return queries * keys
        case Full(radius=radius):
            assert radius is not None
            if T != S or radius >= S:
                return number(sum(min(S - 1, i + radius) - max(0, i - radius) + 1 for i in range(S - T, S)))
            W = letter("W", radius)
            return queries * (TWO * W + ONE) - W * (W + ONE)
        case Causal(window=window):
            if T == 1:
                return keys if window is None or window >= S else letter("W", window)
            if T != S:
                return number(sum(min(i + 1, window or S) for i in range(S - T, S)))
            if window is None or window >= S:
                return halved(queries * (queries + ONE))
            W = letter("W", window)
            return queries * W - halved(W * (W - ONE))
        case _:
            assert_never(visibility)


def _comparison(spec: TwoTowers, work: Work) -> Formula:
    """Every text with every image."""
    head, B = spec.image.head, letter("B", work.batch)
    assert isinstance(head, Vector)
    taken = head.pooling.take.length if isinstance(head.pooling.take, Flatten) else 1
    width = number(head.width) if head.width else number(taken) * letter("D", spec.image.encoder.width)
    return TWO * B * B * width


def _no_gradient(each: Pass) -> Formula:
    """The input's own gradient, which nobody asks for: images and series are no weights."""
    source = each.side.stack.input
    learns_before = isinstance(source, Series) and source.normalise is not None and source.normalise.affine

    def of(weight: Weight) -> Formula:
        reads_input = weight.reads == "patches" and not learns_before
        return TWO * rows_read(each, weight.reads) * weight.count if reads_input else ZERO

    return total(side_sums(each.side, of, lambda weight: weight.part).values())


def _blocks_alone(each: Pass) -> Formula:
    """What recomputing does again: the blocks, without input and head."""
    outside = {"patches", "head"}
    parts = linear_parts(each)
    inside = (amount for name, amount in parts.items() if name.removeprefix(each.side.prefix) not in outside)
    return total(inside) + attention(each, visible=False)
