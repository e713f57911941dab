"""One stack: its input embedded, its blocks in turn, and the norm behind the last."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

import numpy as np
from jaxtyping import Bool, Float, Int

from clearformer.reference import checks, images, series
from clearformer.reference.block import Layer, Memory, block
from clearformer.reference.cache import Cache, forget
from clearformer.reference.embed import embed
from clearformer.reference.frame import Frame, frame_of
from clearformer.reference.norm import norm
from clearformer.reference.weights import Weights
from clearformer.spec import Attention, Input, Patches, RelativeBias, Series, Stack, Tokens
from clearformer.taps import OFF, Tap


@dataclass(frozen=True)
class Call:
    """What a caller may say beside the inputs; `model.run` explains each."""

    real: Bool[np.ndarray, "B T"] | None = None
    segments: Int[np.ndarray, "B T"] | None = None
    prefix: Int[np.ndarray, " B"] | None = None
    length_bound: int | Int[np.ndarray, " B"] | None = None
    cache: Cache | None = None
    tap: Tap = OFF

    def inside(self, side: str) -> Call:
        """The same call, tapped under the stack's own name."""
        return replace(self, tap=self.tap.within(side))


def read(
    spec: Stack,
    weights: Weights,
    inputs: np.ndarray,
    call: Call,
    *,
    table: Float[np.ndarray, "V D"] | None = None,
    memory: Memory | None = None,
) -> tuple[Float[np.ndarray, "B T D"], Bool[np.ndarray, "B T"]]:
    """The last hidden states, and which of their positions are real; `table` is the token table."""
    inputs = checks.inputs(spec.input, inputs)
    pieces, length = cut(spec.input, weights.within("embed"), inputs)
    batch, copies = len(inputs), len(pieces) // len(inputs)  # Independent channels are rows of their own.
    real = np.repeat(checks.real(call.real, batch, length), copies, axis=0)
    segments = checks.segments(call.segments, spec.input, real.shape)
    prefix = np.repeat(checks.prefix(call.prefix, spec, batch), copies)
    bound = checks.bound(call.length_bound, batch, copies)
    frame = frame_of(real, prefix=prefix, length_bound=bound, cache=call.cache)
    x = embed(spec.input, weights.within("embed"), pieces, frame.query_positions, table=table, segments=segments)
    return stack(spec, weights, call.tap("embed", x), frame, memory=memory, cache=call.cache, tap=call.tap), real


def cut(spec: Input, weights: Weights, inputs: np.ndarray) -> tuple[np.ndarray, int]:
    """The inputs as a sequence of pieces, and the number of positions that they take."""
    match spec:
        case Tokens():
            return inputs, inputs.shape[1]
        case Patches():
            return images.cut(spec, inputs), spec.length
        case Series():
            return series.cut(spec, weights, inputs), spec.length(inputs.shape[1])
        case _:
            assert_never(spec)


def stack(
    spec: Stack,
    weights: Weights,
    x: Float[np.ndarray, "B T D"],
    frame: Frame,
    *,
    memory: Memory | None = None,
    cache: Cache | None = None,
    tap: Tap = OFF,
) -> Float[np.ndarray, "B T D"]:
    """The residual stream from the embedding to the last hidden states."""
    for index, layer_spec in enumerate(spec.blocks):
        name = f"blocks.{index}"
        layer = Layer(
            layer_spec,
            weights.within(name),
            frame,
            memory,
            relative=relative_table(spec, weights, index),
            remember=forget if cache is None else cache.growing(f"{name}.attention"),
            remember_memory=forget if cache is None else cache.once(f"{name}.cross_attention"),
            tap=tap.within(name),
        )
        x = block(layer, x)
    return x if spec.final_norm is None else tap("final_norm", norm(spec.final_norm, weights.within("final_norm"), x))


def relative_table(spec: Stack, weights: Weights, index: int) -> Float[np.ndarray, "buckets H"] | None:
    """The table of a block's T5 bias: its own, or that of the first block that shares one."""
    owner = relative_owner(spec, index)
    return None if owner is None else weights[f"blocks.{owner}.attention.relative.weight"]


def relative_owner(spec: Stack, index: int) -> int | None:
    """The block that keeps the table read by block `index`; None where no table is read."""
    kinds = [block.attention.position if isinstance(block.attention, Attention) else None for block in spec.blocks]
    match kinds[index]:
        case RelativeBias(shared=True):
            return next(i for i, kind in enumerate(kinds) if isinstance(kind, RelativeBias) and kind.shared)
        case RelativeBias():
            return index
        case _:
            return None
