"""Changes of a spec in one place of it, for arms that differ in just that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from clearformer.spec import Attention, Block, EncoderDecoder, EncoderOnly, Spec, Stack, TwoTowers

S = TypeVar("S", bound=Spec)


def with_stacks(spec: S, change: Callable[[Stack], Stack]) -> S:
    """The spec with every stack of it changed."""
    match spec:
        case TwoTowers():
            return replace(spec, text=with_stacks(spec.text, change), image=with_stacks(spec.image, change))
        case EncoderDecoder():
            return replace(spec, encoder=change(spec.encoder), decoder=change(spec.decoder))
        case EncoderOnly():
            return replace(spec, encoder=change(spec.encoder))
        case _:
            return replace(spec, decoder=change(spec.decoder))


def with_blocks(spec: S, change: Callable[[Block], Block]) -> S:
    """The spec with every block changed."""
    return with_stacks(spec, lambda stack: replace(stack, blocks=tuple(change(block) for block in stack.blocks)))


def with_attention(spec: S, **changes: Any) -> S:
    """The spec with these fields of every self-attention set."""

    def change(block: Block) -> Block:
        assert isinstance(block.attention, Attention)
        return replace(block, attention=replace(block.attention, **changes))

    return with_blocks(spec, change)
