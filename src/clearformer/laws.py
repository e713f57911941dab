"""Which laws a spec obeys, and where each has an exception. Tests read this; so does the doctor.

A law is a sentence about inputs and outputs that holds whatever the weights. Its conditions say under what terms: a
tester that honours them may call any breach a fault. No exception lives in a test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from clearformer import spec as specs

LawName = Literal[
    "determinism",
    "batch independence",
    "padding independence",
    "causality",
    "cache equality",
    "chunk equality",
    "window reach",
    "offset independence",
    "permutation equivariance",
    "level equivariance",
]

Condition = Literal[
    "equal length bounds",
    "beyond the prefix",
    "without a prefix",
    "chunks keep prefixes whole",
    "no ties between experts",
]


@dataclass(frozen=True)
class Law:
    """`statement` is the law in one sentence; `conditions` are its exceptions, which a tester must honour."""

    name: LawName
    statement: str
    conditions: tuple[Condition, ...] = ()
    reach: int | None = None
    """For "window reach": how many positions away an input can still matter, over all layers."""


def laws(spec: specs.Spec) -> tuple[Law, ...]:
    """The laws of a spec, each with its conditions."""
    return tuple(_laws(spec))


def law(spec: specs.Spec, name: LawName) -> Law | None:
    """The named law, or None where the spec does not obey it."""
    return next((each for each in laws(spec) if each.name == name), None)


def _laws(spec: specs.Spec) -> Iterator[Law]:
    ties: tuple[Condition, ...] = ("no ties between experts",) if _has_experts(spec) else ()
    yield Law("determinism", "In evaluation the same input gives the same output.")
    yield Law("batch independence", "A row of a batch equals the row alone.", ties)
    if isinstance(spec, specs.TwoTowers):
        return
    if all(isinstance(stack.input, specs.Tokens) for stack in _stacks(spec)):
        yield Law("padding independence", "Padding on the left, on the right, or none: tokens come out alike.", ties)
    if isinstance(spec, specs.DecoderOnly | specs.EncoderDecoder):
        yield from _decoder_laws(spec, spec.decoder, ties)
    if isinstance(spec, specs.EncoderOnly):
        yield from _encoder_laws(spec, ties)
    if any(isinstance(stack.input, specs.Series) and stack.input.normalise is not None for stack in _stacks(spec)):
        yield Law("level equivariance", "Adding a constant to a channel adds it to that channel's forecast.", ties)


def _decoder_laws(
    spec: specs.DecoderOnly | specs.EncoderDecoder, decoder: specs.Stack, ties: tuple[Condition, ...]
) -> Iterator[Law]:
    bounds: tuple[Condition, ...] = ("equal length bounds",) if _table_by_length(decoder) else ()
    prefixed = any(_visibility(block).prefix for block in decoder.blocks)
    beyond: tuple[Condition, ...] = ("beyond the prefix",) if prefixed else ()
    whole: tuple[Condition, ...] = ("chunks keep prefixes whole",) if prefixed else ()
    if _answers_everywhere(spec):
        yield Law("causality", "What comes later changes nothing before it.", bounds + beyond + ties)
        if isinstance(decoder.input, specs.Tokens):
            yield Law("cache equality", "Decoding with a cache equals the full forward pass.", bounds + whole + ties)
            yield Law("chunk equality", "Any cutting of the input into chunks gives the same.", bounds + whole + ties)
    windows = [_visibility(block).window for block in decoder.blocks]
    if not prefixed and windows and _answers_everywhere(spec) and all(window is not None for window in windows):
        reach = sum(window - 1 for window in windows if window is not None)
        yield Law(
            "window reach", "An input further back than the windows add up to has no effect.", bounds + ties, reach
        )
    if isinstance(decoder.input, specs.Tokens) and decoder.input.position is None:
        without: tuple[Condition, ...] = ("without a prefix",) if prefixed else ()
        yield Law("offset independence", "Only distances between positions matter.", bounds + without + ties)


def _encoder_laws(spec: specs.EncoderOnly, ties: tuple[Condition, ...]) -> Iterator[Law]:
    encoder = spec.encoder
    bounds: tuple[Condition, ...] = ("equal length bounds",) if _table_by_length(encoder) else ()
    if isinstance(encoder.input, specs.Tokens) and encoder.input.position is None:
        yield Law("offset independence", "Only distances between positions matter.", bounds + ties)
        if _answers_everywhere(spec) and not any(_tells_positions(block) for block in encoder.blocks):
            yield Law("permutation equivariance", "Inputs in another order give the outputs in that order.", ties)
    radii = [
        block.attention.visibility.radius
        for block in encoder.blocks
        if isinstance(block.attention.visibility, specs.Full)
    ]
    if radii and _answers_everywhere(spec) and all(radius is not None for radius in radii):
        reach = sum(radius for radius in radii if radius is not None)
        yield Law("window reach", "An input further away than the radii add up to has no effect.", ties, reach)


def _answers_everywhere(spec: specs.DecoderOnly | specs.EncoderDecoder | specs.EncoderOnly) -> bool:
    """True where each position has an output of its own; a pooled answer mixes or picks positions."""
    return isinstance(spec.head, specs.Language | specs.Hidden)


def _stacks(spec: specs.Spec) -> tuple[specs.Stack, ...]:
    match spec:
        case specs.TwoTowers():
            return specs.main_stack(spec.text), specs.main_stack(spec.image)
        case specs.EncoderDecoder():
            return spec.encoder, spec.decoder
        case _:
            return (specs.main_stack(spec),)


def _has_experts(spec: specs.Spec) -> bool:
    return any(isinstance(block.feedforward, specs.Experts) for stack in _stacks(spec) for block in stack.blocks)


def _visibility(block: specs.Block) -> specs.Causal:
    visibility = block.attention.visibility
    assert isinstance(visibility, specs.Causal)
    return visibility


def _rotary(block: specs.Block) -> specs.Rotary | None:
    match block.attention:
        case specs.LatentAttention(rotary=rotary):
            return rotary
        case specs.Attention(position=specs.Rotary() as rotary):
            return rotary
        case _:
            return None


def _table_by_length(stack: specs.Stack) -> bool:
    """True where the rotary table depends on the whole sequence's length."""
    scalings = [rotary.scaling for block in stack.blocks if (rotary := _rotary(block))]
    return any(isinstance(scaling, specs.DynamicNTK | specs.LongRoPE) for scaling in scalings)


def _tells_positions(block: specs.Block) -> bool:
    """True where the block tells positions apart."""
    visibility = block.attention.visibility
    local = isinstance(visibility, specs.Full) and visibility.radius is not None
    return local or isinstance(block.attention, specs.LatentAttention) or block.attention.position is not None
