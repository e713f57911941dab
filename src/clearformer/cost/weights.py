"""Every weight of a spec with its size as a formula, and what is multiplied by it.

A matrix that `reads` rows costs 2 FLOPs a row and number. Parameters and FLOPs are two sums over the same list.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, assert_never

from clearformer.cost.formula import ONE, TWO, ZERO, Formula, letter, number
from clearformer.spec import (
    AnyAttention,
    Attention,
    Block,
    Classes,
    Dense,
    Experts,
    FeedForward,
    Flatten,
    Forecast,
    Gated,
    Head,
    Hidden,
    Input,
    Language,
    LatentAttention,
    LayerNorm,
    Learned,
    Norm,
    Patches,
    Pooling,
    Regression,
    RelativeBias,
    RMSNorm,
    Sequential,
    Series,
    SigmoidRouter,
    Stack,
    Tokens,
    Transform,
    Vector,
)

Kind = Literal["matrix", "table", "bias", "norm"]
Reads = Literal["nothing", "patches", "queries", "keys", "memory", "answers"]
"""What is multiplied by a matrix: the input's patches, the positions that are new, all positions that are visible
(latent attention rebuilds keys and values from its cache), the encoder's output, or what the head reads."""


@dataclass(frozen=True)
class Weight:
    """`count` numbers, kept in `copies` (experts; 0 for a table that is another's), of which a row uses `used`."""

    part: str
    count: Formula
    kind: Kind
    reads: Reads = "nothing"
    copies: Formula = ONE
    used: Formula = ONE

    @property
    def kept(self) -> Formula:
        return self.copies * self.count

    @property
    def active(self) -> Formula:
        """What one token makes use of."""
        return self.used * self.count if self.copies.value else ZERO


Weights = Iterator[Weight]


def linear(part: str, into: Formula, out: Formula, bias: bool, reads: Reads = "queries") -> Weights:
    yield Weight(part, into * out, "matrix", reads)
    if bias:
        yield Weight(part, out, "bias")


def norm(spec: Norm | None, width: Formula) -> Weights:
    match spec:
        case None:
            return
        case LayerNorm():
            if learnt := int(spec.weight) + int(spec.bias):
                yield Weight("norms", number(learnt) * width, "norm")
        case RMSNorm():
            yield Weight("norms", width, "norm")
        case _:
            assert_never(spec)


def width_of(stack: Stack) -> Formula:
    return letter("D", stack.width)


def embedding(spec: Input, width: Formula, owns_table: bool) -> Weights:
    """What turns the input into vectors."""
    if isinstance(spec.position, Learned):
        yield Weight("positions", number(spec.position.length + spec.position.offset) * width, "table")
    match spec:
        case Tokens():
            if owns_table:
                yield Weight("tokens", letter("V", spec.vocabulary) * width, "table")
            if spec.segments:
                yield Weight("segments", number(spec.segments) * width, "table")
            yield from norm(spec.norm, width)
        case Patches():
            patch = letter("P", spec.patch)
            yield from linear("patches", letter("C", spec.channels) * patch * patch, width, spec.bias, "patches")
            if spec.class_token:
                yield Weight("patches", width, "table")
            yield from norm(spec.norm, width)
        case Series():
            together = ONE if spec.independent else letter("C", spec.channels)
            yield from linear("patches", letter("P", spec.patch) * together, width, spec.bias, "patches")
            if spec.normalise is not None and spec.normalise.affine:
                yield Weight("norms", TWO * letter("C", spec.channels), "norm")
        case _:
            assert_never(spec)


def block(spec: Block, width: Formula, memory: Formula) -> Weights:
    """`memory` is the width of what cross-attention reads."""
    sides = 2 if spec.arrangement == Sequential("sandwich") else 1
    norms = [spec.attention_norm, spec.feedforward_norm]
    yield from attention(spec.attention, "attention", width, width)
    if spec.cross_attention is not None:
        yield from attention(spec.cross_attention, "cross_attention", width, memory)
        norms.append(spec.cross_norm)
    yield from feedforward(spec.feedforward, width)
    for each in norms * sides:
        yield from norm(each, width)


def attention(spec: AnyAttention, part: str, width: Formula, source: Formula) -> Weights:
    """`source` is the width of what keys and values are made from. A relative bias is the stack's: see `relative`."""
    match spec:
        case Attention():
            H, G = letter("H", spec.heads), letter("G", spec.kv_heads)
            K, U = letter("K", spec.key_width), letter("U", spec.value_width)
            rows: Reads = "memory" if part == "cross_attention" else "queries"
            yield from linear(part, width, H * K, spec.bias.query)
            yield from linear(part, source, G * K, spec.bias.key, rows)
            yield from linear(part, source, G * U, spec.bias.value, rows)
            yield from linear(part, H * U, width, spec.bias.output)
            if spec.qk_norm is not None:
                alone = spec.qk_norm.over == "head"
                yield from norm(spec.qk_norm.norm, K if alone else H * K)
                yield from norm(spec.qk_norm.norm, K if alone else G * K)
        case LatentAttention():
            yield from _latent_attention(spec, part, width)
        case _:
            assert_never(spec)


def _latent_attention(spec: LatentAttention, part: str, width: Formula) -> Weights:
    H, K, U = letter("H", spec.heads), letter("K", spec.key_width), letter("U", spec.value_width)
    Z, R = letter("Z", spec.kv_rank), letter("R", spec.rotary_width)
    queries = H * (K + R)
    if spec.query_rank is None:
        yield from linear(part, width, queries, False)
    else:
        low = letter("Z", spec.query_rank)
        yield from linear(part, width, low, spec.bias)
        yield from norm(spec.norm, low)
        yield from linear(part, low, queries, False)
    yield from linear(part, width, Z + R, spec.bias)
    yield from norm(spec.norm, Z)
    yield from linear(part, Z, H * (K + U), False, "keys")
    yield from linear(part, H * U, width, spec.bias)


def feedforward(spec: FeedForward, width: Formula) -> Weights:
    match spec:
        case Dense() | Gated():
            yield from _network(spec, width)
        case Experts():
            E, chosen = letter("E", spec.count), number(spec.active)
            yield from linear("router", width, E, False)
            if isinstance(spec.router, SigmoidRouter) and spec.router.selection_bias:
                yield Weight("router", E, "bias")
            for weight in _network(spec.expert, width):
                yield replace(weight, copies=E, used=chosen)
            if spec.shared is not None:
                yield from _network(spec.shared, width)
            if spec.shared_gate:
                yield from linear("feedforward", width, ONE, False)
        case _:
            assert_never(spec)


def _network(spec: Dense | Gated, width: Formula) -> Weights:
    F = letter("F", spec.width)
    for _ in range(2 if isinstance(spec, Gated) else 1):
        yield from linear("feedforward", width, F, spec.bias)
    yield from linear("feedforward", F, width, spec.bias)


def relative(spec: Attention) -> Formula:
    """The table of a relative bias: buckets × heads."""
    assert isinstance(spec.position, RelativeBias)
    return number(spec.position.buckets) * letter("H", spec.heads)


def head(spec: Head, source: Stack) -> Weights:
    """What turns the stack's states into an answer; the product with a tied table is its, the table is not."""
    width = width_of(source)
    match spec:
        case Hidden():
            return
        case Language():
            assert isinstance(source.input, Tokens)
            V = letter("V", source.input.vocabulary)
            if spec.transform is not None:
                yield from transform(spec.transform, width)
            yield Weight("head", width * V, "matrix", "answers", ZERO if spec.tied else ONE)
            if spec.bias:
                yield Weight("head", V, "bias")
        case Classes(count=numbers) | Regression(outputs=numbers):
            yield from pooled(spec.pooling, width, number(numbers), spec.bias)
        case Forecast():
            assert isinstance(source.input, Series)
            channels = ONE if source.input.independent else letter("C", source.input.channels)
            yield from pooled(spec.pooling, width, number(spec.horizon) * channels, True)
        case Vector():
            yield from pooled(spec.pooling, width, None if spec.width is None else number(spec.width), False)
        case _:
            assert_never(spec)


def pooled(pooling: Pooling, width: Formula, outputs: Formula | None, bias: bool) -> Weights:
    """A pooled vector, perhaps transformed, perhaps projected."""
    if pooling.transform is not None:
        yield from transform(pooling.transform, width)
    taken = number(pooling.take.length) * width if isinstance(pooling.take, Flatten) else width
    if outputs is not None:
        yield from linear("head", taken, outputs, bias, "answers")


def transform(spec: Transform, width: Formula) -> Weights:
    yield from linear("head", width, width, spec.bias, "answers")
    yield from norm(spec.norm, width)
