"""The figures of one spec that explanations quote, and those of the same spec with one choice made otherwise."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from clearformer.cost.activations import activations
from clearformer.cost.flops import Flops, flops
from clearformer.cost.kv_cache import KVCache, keeps_cache, kv_cache
from clearformer.cost.parameters import Parameters, parameters
from clearformer.cost.sides import Side, sides
from clearformer.cost.work import Dtype, Work
from clearformer.messages import Message
from clearformer.messages import card_costs as say
from clearformer.spec import AnyAttention, Block, Causal, FeedForward, Full, Series, Spec, Tokens

Part = TypeVar("Part")


@dataclass(frozen=True)
class Prices:
    """`side` narrows the figures to one stack of a model that has two, `reach` attention to layers that have a window
    ("local") or have none ("global"); "" means all of them."""

    spec: Spec
    dtype: Dtype
    side: str = ""
    reach: str = ""

    @cached_property
    def parameters(self) -> Parameters:
        return parameters(self.spec)

    @cached_property
    def once(self) -> Flops:
        """One position read, or where the input fixes how many there are, all of them."""
        return flops(self.spec, Work(length=1, dtype=self.dtype) if self._reads_tokens else Work(dtype=self.dtype))

    @cached_property
    def full(self) -> Flops:
        """The whole context read."""
        return flops(self.spec, Work(dtype=self.dtype))

    @cached_property
    def cache(self) -> KVCache:
        return kv_cache(self.spec, Work(dtype=self.dtype))

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        found = sides(self.spec)
        return tuple(each for each in found if each.name == self.side) or found

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(block for side in self.sides for block in side.stack.blocks)

    @property
    def attentions(self) -> list[AnyAttention]:
        found = [block.attention for block in self.blocks]
        narrow = [each for each in found if self.reach and (self.reach == "local") == (reach_of(each) is not None)]
        return narrow or found

    @property
    def networks(self) -> list[FeedForward]:
        return [block.feedforward for block in self.blocks]

    @property
    def total(self) -> int:
        return self.parameters.total

    @property
    def length(self) -> int:
        """The longest context of a side."""
        return max(side.context for side in self.sides)

    @property
    def width(self) -> int:
        return self.sides[-1].stack.width

    @property
    def writes(self) -> bool:
        return keeps_cache(self.spec)

    @property
    def unit(self) -> Message:
        """What one reading reads."""
        if self._reads_tokens:
            return say.A_TOKEN
        return say.A_WINDOW if isinstance(self.sides[0].stack.input, Series) else say.AN_IMAGE

    @property
    def _reads_tokens(self) -> bool:
        return all(isinstance(side.stack.input, Tokens) for side in sides(self.spec))

    @property
    def linear(self) -> int:
        """FLOPs of the products with weights in `once`."""
        return sum(each.value for each in self.once.linear.values())

    def part(self, *names: str) -> int:
        """Parameters of these parts of the model."""
        return self._sum({key: each.value for key, each in self.parameters.by_part.items()}, names)

    def work_of(self, *names: str) -> int:
        """FLOPs of these parts in `once`."""
        return self._sum({key: each.value for key, each in self.once.linear.items()}, names)

    def _sum(self, amounts: dict[str, int], names: tuple[str, ...]) -> int:
        prefixes = {side.prefix for side in self.sides}
        return sum(amount for key, amount in amounts.items() if _split(key)[0] in prefixes and _split(key)[1] in names)

    def otherwise(self, kind: type[Part], change: Callable[[Part], object]) -> Prices:
        """The prices of the spec with each part of a kind changed."""
        return Prices(changed(self.spec, kind, change), self.dtype, self.side, self.reach)

    def held(self) -> int:
        """Bytes of activations that training holds for one sequence of the whole context."""
        return activations(self.spec, Work(dtype=self.dtype), kernel="sdpa", recompute=False).bytes


def reach_of(spec: AnyAttention) -> int | None:
    """How many positions a query sees at most; None for all."""
    seen = spec.visibility
    match seen:
        case Causal():
            return seen.window
        case Full():
            return None if seen.radius is None else 2 * seen.radius + 1


def changed(spec: Spec, kind: type[Part], change: Callable[[Part], object]) -> Spec:
    """The spec with every part of a kind changed; blocks that were one object stay one."""
    done: dict[int, object] = {}

    def of(value: object) -> object:
        if isinstance(value, tuple):
            return tuple(map(of, value))
        if not dataclasses.is_dataclass(value) or isinstance(value, type):
            return value
        if id(value) not in done:
            inner = {field.name: of(getattr(value, field.name)) for field in dataclasses.fields(value)}
            new = dataclasses.replace(value, **inner)
            done[id(value)] = change(new) if isinstance(new, kind) else new
        return done[id(value)]

    found = of(spec)
    assert isinstance(found, Spec)
    return found


def all_of(spec: Spec, kind: type[Part]) -> Iterator[Part]:
    """Every part of a kind, those in blocks once for each block."""
    waiting: list[object] = [spec]
    while waiting:
        value = waiting.pop()
        if isinstance(value, kind):
            yield value
        if isinstance(value, tuple):
            waiting += value
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            waiting += [getattr(value, field.name) for field in dataclasses.fields(value)]


def _split(key: str) -> tuple[str, str]:
    """`decoder.attention` → its side's prefix and its part."""
    side, dot, part = key.rpartition(".")
    return side + dot, part
