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
Kernel = Literal["sdpa", "plain"]
BYTES: dict[Dtype, int] = {"float32": 4, "bfloat16": 2, "float16": 2, "float64": 8}


@dataclass(frozen=True)
class Work:
    """`length` positions are read by the stack, `source` by the encoder in front of a decoder; None: what the model is
    made for. An image has its own length. `dtype` is that of weights, cache and activations.

    `kernel` "plain" holds the table of scores, "sdpa" does not; `recompute` keeps each block's input alone.
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
            if value is not None and (type(value) is not int or value < 1):
                raise UsageError(messages.NOT_WHOLE, name=name, found=repr(value))
        for name, choices in (("dtype", Dtype), ("optimizer", Optimizer), ("kernel", Kernel)):
            if getattr(self, name) not in get_args(choices):
                expected, found = ", ".join(get_args(choices)), repr(getattr(self, name))
                raise UsageError(messages.NOT_ONE_OF, name=name, expected=expected, found=found)

    @property
    def bytes_each(self) -> int:
        """Bytes of one number."""
        return BYTES[self.dtype]


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
