"""A spec as its sides: one stack with what it reads and answers, or two. Every fold over a spec begins here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from clearformer.cost.formula import ZERO, Formula, letter, number
from clearformer.spec import (
    Block,
    DecoderOnly,
    EncoderDecoder,
    EncoderOnly,
    Head,
    Hidden,
    Last,
    Spec,
    Stack,
    Tokens,
    TwoTowers,
    pooling_of,
)


@dataclass(frozen=True)
class Side:
    """A stack in its model. `prefix` stands before the names of its parts; `memory` is the stack that its
    cross-attention reads; `owns_table` is False where its token table is the other side's."""

    name: str
    prefix: str
    stack: Stack
    head: Head
    context: int
    memory: Stack | None = None
    owns_table: bool = True
    writes: bool = False
    """Whether it continues what it has read, and so keeps a cache."""
    is_source: bool = False
    """Whether it reads for another side."""


def sides(spec: Spec) -> tuple[Side, ...]:
    """The stacks of a model, in the order of the data."""
    match spec:
        case EncoderOnly():
            return (Side("encoder", "", spec.encoder, spec.head, spec.context),)
        case DecoderOnly():
            pooling = pooling_of(spec.head)
            writes = isinstance(spec.decoder.input, Tokens) and (pooling is None or isinstance(pooling.take, Last))
            return (Side("decoder", "", spec.decoder, spec.head, spec.context, writes=writes),)
        case EncoderDecoder(encoder=encoder, decoder=decoder, head=head, context=context):
            source = Side("encoder", "encoder.", encoder, Hidden(), context, is_source=True)
            owns_table = not spec.shared_vocabulary
            return source, Side("decoder", "decoder.", decoder, head, context, encoder, owns_table, writes=True)
        case TwoTowers(text=text, image=image):
            (reader,), (viewer,) = sides(text), sides(image)
            return (
                Side("text", "text.", reader.stack, reader.head, reader.context),
                Side("image", "image.", viewer.stack, viewer.head, viewer.context),
            )
        case _:
            assert_never(spec)


def objects(stack: Stack) -> list[Block]:
    """The blocks of a uniform stack are one object: comparing them all would take longer than the reckoning."""
    return list({id(block): block for block in stack.blocks}.values())


def over_blocks(stack: Stack, of: Callable[[Block], Formula]) -> Formula:
    """Σ `of`(block): equal answers are counted, L of them where all are alike."""
    times_there = Counter(map(id, stack.blocks))
    counts: dict[Formula, int] = {}
    for block in objects(stack):
        answer = of(block)
        counts[answer] = counts.get(answer, 0) + times_there[id(block)]
    found = ZERO
    for answer, count in counts.items():
        times = letter("L", count) if len(counts) == 1 and count > 1 else number(count)
        found = found + times * answer
    return found
