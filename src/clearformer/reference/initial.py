"""The weight table of a spec, from the spec alone: every name with its shape, and random numbers to fill it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, assert_never

import numpy as np

from clearformer.reference.stack import relative_owner
from clearformer.spec import (
    Attention,
    Block,
    Classes,
    DecoderOnly,
    Dense,
    EncoderDecoder,
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
    Parallel,
    Patches,
    Pooling,
    Regression,
    RelativeBias,
    RMSNorm,
    Rotary,
    Sequential,
    Series,
    SigmoidRouter,
    Spec,
    Stack,
    Tokens,
    TwoTowers,
    Vector,
    main_stack,
)

Kind = Literal["matrix", "gain", "offset", "scale"]


@dataclass(frozen=True)
class Weight:
    """A weight's shape and what it does: a matrix or table, a gain around 1, an offset around 0, CLIP's scale."""

    name: str
    shape: tuple[int, ...]
    kind: Kind


Weights = Iterator[Weight]


def shapes(spec: Spec) -> dict[str, tuple[int, ...]]:
    """Every weight of the spec, by its name in the PyTorch model; a shared table stands once."""
    return {weight.name: weight.shape for weight in model(spec)}


def draw(spec: Spec, rng: np.random.Generator, scale: float = 1.5) -> dict[str, np.ndarray]:
    """Weights of trained size: matrices N(0, scale²/fan_in), gains in 1 ± 0.3, offsets and biases in ± 0.3.

    At the sizes of an untrained model the attention is nearly uniform and wrong code passes for right.
    """

    def numbers(weight: Weight) -> np.ndarray:
        match weight.kind:
            case "matrix":
                return rng.standard_normal(weight.shape) * scale / math.sqrt(weight.shape[-1])
            case "gain":
                return rng.uniform(0.7, 1.3, weight.shape)
            case "offset":
                return rng.uniform(-0.3, 0.3, weight.shape)
            case "scale":
                assert isinstance(spec, TwoTowers)
                return np.asarray(spec.initial_scale + rng.uniform(-0.3, 0.3))
            case _:
                assert_never(weight.kind)

    return {weight.name: numbers(weight) for weight in model(spec)}


def model(spec: Spec) -> Weights:
    """Stacks and head under their names."""
    match spec:
        case DecoderOnly(decoder=decoder):
            yield from under("decoder", stack(decoder))
            yield from under("head", head(spec.head, decoder))
        case EncoderDecoder(encoder=encoder, decoder=decoder):
            yield from under("encoder", stack(encoder))
            yield from under("decoder", stack(decoder, own_table=not spec.shared_vocabulary))
            yield from under("head", head(spec.head, decoder))
        case TwoTowers(text=text, image=image):
            yield Weight("scale", (), "scale")
            yield from under("text", model(text))
            yield from under("image", model(image))
        case _:
            encoder = main_stack(spec)
            yield from under("encoder", stack(encoder))
            yield from under("head", head(spec.head, encoder))


def under(name: str, weights: Weights) -> Weights:
    """The same weights, inside the module called `name`."""
    for weight in weights:
        yield Weight(f"{name}.{weight.name}", weight.shape, weight.kind)


def linear(name: str, out: int, into: int, bias: bool) -> Weights:
    """[out, in] as torch keeps it."""
    yield Weight(f"{name}.weight", (out, into), "matrix")
    if bias:
        yield Weight(f"{name}.bias", (out,), "offset")


def norm(name: str, spec: Norm | None, width: int) -> Weights:
    """The parameters that a norm has, if it is there."""
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


def stack(spec: Stack, own_table: bool = True) -> Weights:
    yield from under("embed", embed(spec.input, spec.width, own_table))
    memory = None
    for index, layer in enumerate(spec.blocks):
        yield from under(f"blocks.{index}", block(layer, spec.width, memory, relative_owner(spec, index) == index))
    yield from norm("final_norm", spec.final_norm, spec.width)
