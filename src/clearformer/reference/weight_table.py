"""Every weight of a spec: its name in the PyTorch model, its shape, and what it does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, assert_never

from clearformer.reference.stack import relative_owner
from clearformer.spec import (
    AnyAttention,
    Attention,
    Block,
    Classes,
    DecoderOnly,
    Dense,
    EncoderDecoder,
    EncoderOnly,
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
    Spec,
    Stack,
    Tokens,
    Transform,
    TwoTowers,
    Vector,
)


@dataclass(frozen=True)
class Weight:
    """A matrix (or table) mixes, a gain stands around 1, an offset around 0; `scale` is the logarithm of CLIP's."""

    name: str
    shape: tuple[int, ...]
    kind: Literal["matrix", "gain", "offset", "scale"] = "matrix"


Weights = Iterator[Weight]


def under(name: str, weights: Weights) -> Weights:
    """The same weights, inside the module called `name`."""
    return (Weight(f"{name}.{weight.name}", weight.shape, weight.kind) for weight in weights)


def model(spec: Spec) -> Weights:
    """Stacks and head; a shared table stands once, under the name of its first use."""
    match spec:
        case EncoderOnly(encoder=encoder):
            yield from under("encoder", stack(encoder))
            yield from under("head", head(spec.head, encoder))
        case DecoderOnly(decoder=decoder):
            yield from under("decoder", stack(decoder))
            yield from under("head", head(spec.head, decoder))
        case EncoderDecoder(encoder=encoder, decoder=decoder):
            yield from under("encoder", stack(encoder))
            yield from under("decoder", stack(decoder, memory=encoder.width, table=not spec.shared_vocabulary))
            yield from under("head", head(spec.head, decoder))
        case TwoTowers():
            yield Weight("scale", (), "scale")
            yield from under("text", model(spec.text))
            yield from under("image", model(spec.image))
        case _:
            assert_never(spec)


def stack(spec: Stack, *, memory: int = 0, table: bool = True) -> Weights:
    """`memory` is the encoder's width, `table` whether the token table is the stack's own."""
    yield from under("embed", embed(spec.input, spec.width, table))
    for index, layer in enumerate(spec.blocks):
        yield from under(f"blocks.{index}", block(layer, spec.width, memory))
        if relative_owner(spec, index) == index and isinstance(layer.attention, Attention):
            assert isinstance(layer.attention.position, RelativeBias)
            shape = (layer.attention.position.buckets, layer.attention.heads)
            yield Weight(f"blocks.{index}.attention.relative.weight", shape)
    yield from norm("final_norm", spec.final_norm, spec.width)


def linear(name: str, out: int, into: int, bias: bool) -> Weights:
    """[out, in], as torch keeps it."""
    yield Weight(f"{name}.weight", (out, into))
    if bias:
        yield Weight(f"{name}.bias", (out,), "offset")


def norm(name: str, spec: Norm | None, width: int) -> Weights:
    """What a norm learns, if it is there and learns anything."""
    match spec:
        case None:
            return
        case LayerNorm():
            if spec.weight:
                yield Weight(f"{name}.weight", (width,), "gain")
            if spec.bias:
                yield Weight(f"{name}.bias", (width,), "offset")
        case RMSNorm():
            yield Weight(f"{name}.weight", (width,), "offset" if spec.unit_offset else "gain")
        case _:
            assert_never(spec)


def embed(spec: Input, width: int, table: bool) -> Weights:
    if isinstance(spec.position, Learned):
        yield Weight("position.weight", (spec.position.length + spec.position.offset, width))
    match spec:
        case Tokens():
            if table:
                yield Weight("token.weight", (spec.vocabulary, width))
            if spec.segments:
                yield Weight("segment.weight", (spec.segments, width))
            yield from norm("norm", spec.norm, width)
        case Patches():
            yield from linear("project", width, spec.channels * spec.patch**2, spec.bias)
            if spec.class_token:
                yield Weight("class_token", (width,), "offset")
            yield from norm("norm", spec.norm, width)
        case Series():
            yield from linear("project", width, spec.patch * (1 if spec.independent else spec.channels), spec.bias)
            if spec.normalise is not None and spec.normalise.affine:
                yield Weight("normalise.weight", (spec.channels,), "gain")
                yield Weight("normalise.bias", (spec.channels,), "offset")
        case _:
            assert_never(spec)


def block(spec: Block, width: int, memory: int) -> Weights:
    sides = ["", "_output"] if spec.arrangement == Sequential("sandwich") else [""]
    yield from under("attention", attention(spec.attention, width, width))
    yield from under("feedforward", feedforward(spec.feedforward, width))
    for side in sides:
        yield from norm(f"attention{side}_norm", spec.attention_norm, width)
        yield from norm(f"feedforward{side}_norm", spec.feedforward_norm, width)
    if spec.cross_attention is not None:
        yield from under("cross_attention", attention(spec.cross_attention, width, memory))
        for side in sides:
            yield from norm(f"cross{side}_norm", spec.cross_norm, width)


def attention(spec: AnyAttention, width: int, source: int) -> Weights:
    """`source` is the width of what keys and values are read from."""
    match spec:
        case LatentAttention():
            yield from latent_attention(spec, width)
        case Attention():
            queries, keys = spec.heads * spec.key_width, spec.kv_heads * spec.key_width
            yield from linear("query", queries, width, spec.bias.query)
            yield from linear("key", keys, source, spec.bias.key)
            yield from linear("value", spec.kv_heads * spec.value_width, source, spec.bias.value)
            yield from linear("output", width, spec.heads * spec.value_width, spec.bias.output)
            if spec.qk_norm is not None:
                alone = spec.qk_norm.over == "head"
                yield from norm("query_norm", spec.qk_norm.norm, spec.key_width if alone else queries)
                yield from norm("key_norm", spec.qk_norm.norm, spec.key_width if alone else keys)
        case _:
            assert_never(spec)


def latent_attention(spec: LatentAttention, width: int) -> Weights:
    queries = spec.heads * (spec.key_width + spec.rotary_width)
    if spec.query_rank is None:
        yield from linear("query", queries, width, False)
    else:
        yield from linear("query_down", spec.query_rank, width, spec.bias)
        yield from norm("query_norm", spec.norm, spec.query_rank)
        yield from linear("query_up", queries, spec.query_rank, False)
    yield from linear("latent_down", spec.kv_rank + spec.rotary_width, width, spec.bias)
    yield from norm("latent_norm", spec.norm, spec.kv_rank)
    yield from linear("latent_up", spec.heads * (spec.key_width + spec.value_width), spec.kv_rank, False)
    yield from linear("output", width, spec.heads * spec.value_width, spec.bias)


def feedforward(spec: FeedForward, width: int) -> Weights:
    match spec:
        case Dense() | Gated():
            for name in ("gate", "up") if isinstance(spec, Gated) else ("up",):
                yield from linear(name, spec.width, width, spec.bias)
            yield from linear("down", width, spec.width, spec.bias)
        case Experts():
            yield Weight("router.weight", (spec.count, width))
            if isinstance(spec.router, SigmoidRouter) and spec.router.selection_bias:
                yield Weight("router.selection_bias", (spec.count,), "offset")
            for index in range(spec.count):
                yield from under(f"experts.{index}", feedforward(spec.expert, width))
            if spec.shared is not None:
                yield from under("shared", feedforward(spec.shared, width))
            if spec.shared_gate:
                yield Weight("shared_gate.weight", (1, width))
        case _:
            assert_never(spec)


def head(spec: Head, source: Stack) -> Weights:
    match spec:
        case Hidden():
            return
        case Language():
            yield from language(spec, source)
        case Classes(count=numbers) | Regression(outputs=numbers):
            yield from pooling(spec.pooling, source.width)
            yield from linear("project", numbers, pooled_width(spec.pooling, source.width), spec.bias)
        case Forecast():
            assert isinstance(source.input, Series)
            channels = 1 if source.input.independent else source.input.channels
            yield from pooling(spec.pooling, source.width)
            yield from linear("project", spec.horizon * channels, pooled_width(spec.pooling, source.width), True)
        case Vector():
            yield from pooling(spec.pooling, source.width)
            if spec.width is not None:
                yield from linear("project", spec.width, pooled_width(spec.pooling, source.width), False)
        case _:
            assert_never(spec)


def language(spec: Language, source: Stack) -> Weights:
    assert isinstance(source.input, Tokens)
    if spec.transform is not None:
        yield from transform("transform", spec.transform, source.width)
    if not spec.tied:
        yield Weight("project.weight", (source.input.vocabulary, source.width))
    if spec.bias:
        yield Weight("bias", (source.input.vocabulary,), "offset")


def pooling(spec: Pooling, width: int) -> Weights:
    if spec.transform is not None:
        yield from transform("pooling.transform", spec.transform, width)


def transform(name: str, spec: Transform, width: int) -> Weights:
    yield from linear(f"{name}.dense", width, width, spec.bias)
    yield from norm(f"{name}.norm", spec.norm, width)


def pooled_width(spec: Pooling, width: int) -> int:
    return spec.take.length * width if isinstance(spec.take, Flatten) else width
