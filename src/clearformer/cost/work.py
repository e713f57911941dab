"""What is asked of a model: how many sequences, how long, in which numbers, and how it would be trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from clearformer.cost.formula import ONE, Formula, letter, number
from clearformer.cost.sides import Side, sides
from clearformer.errors import UsageError
from clearformer.messages import cost as messages
from clearformer.spec import Flatten, Learned, Patches, Series, Spec, Stack, pooling_of

Dtype = Literal["float32", "bfloat16", "float16", "float64"]
Optimizer = Literal["adamw", "adam", "muon"]
Kernel = Literal["plain", "sdpa", "tiled"]
# Far above any machine, and small enough that every product of such numbers is still a float.
MOST = 1 << 40
BYTES: dict[Dtype, int] = {"float32": 4, "bfloat16": 2, "float16": 2, "float64": 8}


@dataclass(frozen=True)
class Work:
    """`length` positions are read by the stack, `source` by the encoder in front of a decoder; None: what the model is
    made for. An image has its own length. `dtype` is that of weights, cache and activations.

    `kernel` "plain" holds the table of scores, "sdpa" and "tiled" do not; `recompute` keeps each block's input alone.
    """

    batch: int = 1
    length: int | None = None
    source: int | None = None
    dtype: Dtype = "float32"
    optimizer: Optimizer = "adamw"
    kernel: Kernel = "sdpa"
    recompute: bool = False

    def __post_init__(self) -> None:
        for name in ("batch", "length", "source"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or not 1 <= value <= MOST):
                raise UsageError(messages.NOT_WHOLE, name=name, most=MOST, found=bounded(value))
        for name, choices in (("dtype", Dtype), ("optimizer", Optimizer), ("kernel", Kernel)):
            if getattr(self, name) not in get_args(choices):
                expected, found = ", ".join(get_args(choices)), repr(getattr(self, name))
                raise UsageError(messages.NOT_ONE_OF, name=name, expected=expected, found=found)

    @property
    def bytes_each(self) -> int:
        """Bytes of one number."""
        return BYTES[self.dtype]


def bounded(value: object) -> str:
    """A wrong value as an error shows it."""
    return f"{value:.3e}" if isinstance(value, float) else repr(value)[:40]


def require_taken(spec: Spec, *, length: int | None, source: int | None) -> None:
    """Raises UsageError for a length that no stack of the model can be asked for."""
    if length is not None and not takes_length(spec):
        raise UsageError(messages.LENGTH_IS_FIXED, name="length", kind=type(spec).__name__)
    if source is not None and not takes_source(spec):
        raise UsageError(messages.NO_SOURCE, kind=type(spec).__name__)


def takes_length(spec: Spec) -> bool:
    """Whether a stack reads as many positions as one likes."""
    return any(fixed_length(side) is None for side in sides(spec))


def takes_source(spec: Spec) -> bool:
    """Whether an encoder in front of a decoder does."""
    return any(side.is_source and fixed_length(side) is None for side in sides(spec))


@dataclass(frozen=True)
class Pass:
    """One side reading once: `rows` sequences of which `queries` positions are new and `keys` can be seen; `memory` are
    the encoder's positions, read anew with `reads_memory`; the head answers at `answers` positions of a row."""

    side: Side
    rows: Formula
    queries: Formula
    keys: Formula
    memory: Formula
    answers: Formula
    reads_memory: bool = True


def passes(spec: Spec, work: Work) -> tuple[Pass, ...]:
    """Each side reading all of its input at once, as in training and in a prefill.

    Raises UsageError for more positions than a learnt table has rows.
    """
    found: list[Pass] = []
    for side in sides(spec):
        length = positions(side, work)
        require_room(side.stack, length)
        T, S = letter("T", length), letter("S", length)
        memory = letter("S", found[0].queries.value) if side.memory is not None else ONE
        found.append(Pass(side, rows_of(side.stack, work), T, S, memory, T))
    return tuple(found)


def positions(side: Side, work: Work) -> int:
    """How many positions the side's stack reads."""
    return fixed_length(side) or (side.is_source and work.source) or work.length or side.context


def fixed_length(side: Side) -> int | None:
    """An image's positions, and those of a head that reads all side by side; None where they may be chosen."""
    if isinstance(side.stack.input, Patches):
        return side.stack.input.length
    pooling = pooling_of(side.head)
    return pooling.take.length if pooling is not None and isinstance(pooling.take, Flatten) else None


def rows_of(stack: Stack, work: Work) -> Formula:
    """Sequences in a batch; each channel is one where a series runs them apart."""
    batch = letter("B", work.batch)
    match stack.input:
        case Series(independent=True, channels=channels):
            return batch * letter("C", channels)
        case _:
            return batch


def require_room(stack: Stack, length: int) -> None:
    """Raises UsageError for positions past the end of a learnt table."""
    position = stack.input.position
    if isinstance(position, Learned) and length > position.length:
        raise UsageError(messages.PAST_TABLE, found=length, length=position.length)


def patches(each: Pass) -> Formula:
    """Positions that come from the input, without a class token."""
    source = each.side.stack.input
    token = isinstance(source, Patches) and source.class_token
    return each.queries - number(1) if token else each.queries
