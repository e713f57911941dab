"""The most that fits into a given memory: sequences in a batch, positions, or blocks, each with the rest as it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, assert_never

from clearformer.cost.activations import activations
from clearformer.cost.kv_cache import keeps_cache, kv_cache
from clearformer.cost.memory import Memory, memory
from clearformer.cost.parameters import parameters
from clearformer.cost.sides import sides
from clearformer.cost.work import Work, fixed_length
from clearformer.errors import UsageError
from clearformer.messages import cost as messages
from clearformer.spec import DecoderOnly, EncoderDecoder, EncoderOnly, Learned, Spec, Stack, TwoTowers

Purpose = Literal["training", "answering"]
MOST = {"batch": 1 << 24, "length": 1 << 24, "layers": 1 << 10}
_UNITS = {"B": 1, **{f"{letter}B": 1000**power for power, letter in enumerate("KMGT", 1)}}
# Far above any memory, and far below where numbers end.
_LARGEST = 10**18
_UNITS |= {f"{letter}iB": 1024**power for power, letter in enumerate("KMGT", 1)}


@dataclass(frozen=True)
class Fitting:
    """The most that fits for one purpose; None where not even one does. `layers` is that of each stack, whose kinds of
    blocks come round again; `parameters` are those of that model. `length` is None too where the input fixes it, and
    `layers` where a stack has no block.

    A number of `MOST` is as far as anybody looked.
    """

    purpose: Purpose
    batch: int | None
    length: int | None
    layers: int | None
    parameters: int | None


def fitting(spec: Spec, work: Work, size: int) -> tuple[Fitting, ...]:
    """For training (the total of `memory`) and for answering (weights and cache)."""
    purposes: tuple[Purpose, ...] = ("training", "answering") if keeps_cache(spec) else ("training",)
    return tuple(_fitting(spec, work, size, purpose) for purpose in purposes)


def bytes_of(text: str) -> int:
    """`24GB` (10⁹) or `24GiB` (2³⁰) as bytes. Raises UsageError for what is no size."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)", text.strip())
    units = {unit.lower(): factor for unit, factor in _UNITS.items()}
    size = float(found[1]) * units.get(found[2].lower(), 0) if found is not None else 0
    if not 1 <= size <= _LARGEST:
        raise UsageError(messages.NO_SIZE, found=text)
    return int(size)


def _fitting(spec: Spec, work: Work, size: int, purpose: Purpose) -> Fitting:
    held = memory(spec, work)

    def needed(of: Spec, doing: Work, state: Memory) -> int:
        match purpose:
            case "training":
                kept = activations(of, doing, kernel=doing.kernel, recompute=doing.recompute)
                return state.state + kept.bytes
            case "answering":
                return state.weights.value + kv_cache(of, doing).whole.value
            case _:
                assert_never(purpose)

    def fits(of: Spec) -> bool:
        return needed(of, work, memory(of, work)) <= size

    batch = most(lambda n: needed(spec, replace(work, batch=n), held) <= size, MOST["batch"])
    longest = longest_position(spec)
    length = None
    if longest is not None:
        length = most(lambda n: needed(spec, replace(work, length=n), held) <= size, longest)
    layers = most(lambda n: fits(with_layers(spec, n)), MOST["layers"]) if can_deepen(spec) else None
    count = None if layers is None else parameters(with_layers(spec, layers)).total
    return Fitting(purpose, batch, length, layers, count)


def most(fits: Callable[[int], bool], limit: int) -> int | None:
    """The largest number up to `limit` that fits, where none fits behind one that does not."""
    if not fits(1):
        return None
    low, high = 1, 2
    while high <= limit and fits(high):
        low, high = high, 2 * high
    high = min(high, limit + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def longest_position(spec: Spec) -> int | None:
    """As many positions as learnt tables have rows; None for a model whose input fixes them."""
    stacks = [side.stack for side in sides(spec) if fixed_length(side) is None]
    tables = [stack.input.position.length for stack in stacks if isinstance(stack.input.position, Learned)]
    return min([MOST["length"], *tables]) if stacks else None


def can_deepen(spec: Spec) -> bool:
    """Whether every stack has blocks that could come round again."""
    return all(side.stack.blocks for side in sides(spec))


def with_layers(spec: Spec, layers: int) -> Spec:
    """The same model with `layers` blocks in each stack."""

    def deeper(stack: Stack) -> Stack:
        return replace(stack, blocks=tuple(stack.blocks[i % len(stack.blocks)] for i in range(layers)))

    match spec:
        case EncoderOnly():
            return replace(spec, encoder=deeper(spec.encoder))
        case DecoderOnly():
            return replace(spec, decoder=deeper(spec.decoder))
        case EncoderDecoder():
            return replace(spec, encoder=deeper(spec.encoder), decoder=deeper(spec.decoder))
        case TwoTowers():
            text, image = with_layers(spec.text, layers), with_layers(spec.image, layers)
            assert isinstance(text, EncoderOnly | DecoderOnly)
            assert isinstance(image, EncoderOnly)
            return replace(spec, text=text, image=image)
        case _:
            assert_never(spec)
