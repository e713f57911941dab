"""How many numbers a model learns, part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from clearformer.cost import weights
from clearformer.cost.formula import ONE, ZERO, Formula, total
from clearformer.cost.sides import Side, objects, over_blocks, sides
from clearformer.cost.weights import Weight, width_of
from clearformer.spec import Attention, Block, RelativeBias, Spec, Stack, TwoTowers

Key = TypeVar("Key")

PARTS = (
    "tokens",
    "positions",
    "segments",
    "patches",
    "attention",
    "cross_attention",
    "feedforward",
    "router",
    "norms",
    "head",
    "scale",
)


@dataclass(frozen=True)
class Parameters:
    """`total` is what the model keeps, `active` what one token makes use of: less where experts are chosen.

    `plain` leaves biases and norms out, as the formulas of papers do.
    """

    by_part: Mapping[str, Formula]
    active_by_part: Mapping[str, Formula]
    plain: int

    @property
    def total(self) -> int:
        return sum(part.value for part in self.by_part.values())

    @property
    def active(self) -> int:
        return sum(part.value for part in self.active_by_part.values())


def parameters(spec: Spec) -> Parameters:
    """Exactly those of the model that `build` makes of the spec; a shared table counts once."""

    def everything(weight: Weight) -> Formula:
        return weight.kept

    def products(weight: Weight) -> Formula:
        return weight.kept if weight.kind in ("matrix", "table") else ZERO

    plain = sum(part.value for part in by_part(spec, products).values())
    return Parameters(by_part(spec, everything), by_part(spec, lambda weight: weight.active), plain)


def by_part(spec: Spec, of: Callable[[Weight], Formula]) -> dict[str, Formula]:
    """Σ `of`(weight) for each part of each side that has any, in the order of `PARTS`."""
    found: dict[str, Formula] = {}
    for side in sides(spec):
        sums = side_sums(side, of, lambda weight: weight.part)
        found |= {side.prefix + part: sums[part] for part in PARTS if part in sums and sums[part].value}
    if isinstance(spec, TwoTowers) and (scale := of(Weight("scale", ONE, "table"))).value:
        found["scale"] = scale
    return found


def side_sums(side: Side, of: Callable[[Weight], Formula], key: Callable[[Weight], Key]) -> dict[Key, Formula]:
    """Σ `of`(weight) over the weights of one side that have the same `key`."""

    def summed(found: Iterable[Weight]) -> dict[Key, Formula]:
        amounts: dict[Key, list[Formula]] = {}
        for weight in found:
            amounts.setdefault(key(weight), []).append(of(weight))
        return {each: total(amount) for each, amount in amounts.items()}

    tables = (Weight("attention", weights.relative(owner), "table") for owner in bias_owners(side.stack))
    outside = summed([*outside_blocks(side), *tables])
    inside = {id(block): summed(block_weights(side, block)) for block in objects(side.stack)}

    def whole(each: Key) -> Formula:
        return outside.get(each, ZERO) + over_blocks(side.stack, lambda block: inside[id(block)].get(each, ZERO))

    keys = dict.fromkeys([*outside, *(each for sums in inside.values() for each in sums)])
    return {each: whole(each) for each in keys}


def block_weights(side: Side, block: Block) -> weights.Weights:
    """The weights of one block of the side."""
    width = width_of(side.stack)
    return weights.block(block, width, width if side.memory is None else width_of(side.memory))


def outside_blocks(side: Side) -> weights.Weights:
    """Input, final norm, head."""
    width = width_of(side.stack)
    yield from weights.embedding(side.stack.input, width, side.owns_table)
    yield from weights.norm(side.stack.final_norm, width)
    yield from weights.head(side.head, side.stack)


def bias_owners(stack: Stack) -> list[Attention]:
    """Attentions that keep a relative-bias table: each its own, or the first for all that share."""
    owners: list[Attention] = []
    shared = False
    for block in stack.blocks:
        attention = block.attention
        if isinstance(attention, Attention) and isinstance(attention.position, RelativeBias):
            if not (attention.position.shared and shared):
                owners.append(attention)
            shared = shared or attention.position.shared
    return owners
