"""The Transformer: the same functions as the PyTorch models, in NumPy and float64.

Reading order: `embed`, `positions/`, `mask`, `attention`, `feedforward`, `block`, `stack`, then here. Nothing is fused
and nothing learns: a line is a formula, and its docstring names the paper. Weights have the names of the PyTorch model.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool, Float, Int

from clearformer.reference import checks, series
from clearformer.reference.block import Memory
from clearformer.reference.cache import Cache
from clearformer.reference.head import head
from clearformer.reference.initial import shapes
from clearformer.reference.stack import Call, read
from clearformer.reference.weights import Weights, checked
from clearformer.spec import (
    DecoderOnly,
    EncoderDecoder,
    Forecast,
    Input,
    Series,
    SingleStack,
    Tokens,
    TwoTowers,
    main_stack,
    pooling_of,
)
from clearformer.taps import OFF, Tap

Table = Mapping[str, np.ndarray]


def run(
    spec: SingleStack,
    weights: Table,
    inputs: np.ndarray,
    *,
    real: Bool[np.ndarray, "B T"] | None = None,
    segments: Int[np.ndarray, "B T"] | None = None,
    prefix: Int[np.ndarray, " B"] | None = None,
    length_bound: int | Int[np.ndarray, " B"] | None = None,
    cache: Cache | None = None,
    tap: Tap = OFF,
) -> np.ndarray:
    """An encoder or a decoder with its head: ids B T, images B C height width or series B S C, to the head's answer.

    `real` marks tokens (True) and pads; `prefix` is a row's prefix length; `length_bound` the length that dynamic NTK
    and LongRoPE turn for. With a cache, `inputs` continue what it holds.
    Raises CheckpointError (weights that are not the spec's), UsageError and GenerationError (inputs that do not fit).
    """
    call = Call(real, segments, prefix, length_bound, cache, tap)
    return _single(spec, checked(weights, shapes(spec)), inputs, call)


def encode(
    spec: EncoderDecoder,
    weights: Table,
    source: np.ndarray,
    *,
    real: Bool[np.ndarray, "B S"] | None = None,
    segments: Int[np.ndarray, "B S"] | None = None,
    length_bound: int | Int[np.ndarray, " B"] | None = None,
    tap: Tap = OFF,
) -> Memory:
    """The source read both ways, once for all decoding steps."""
    checks.one_memory_a_sequence(spec.encoder.input)
    table = checked(weights, shapes(spec))
    call = Call(real, segments, length_bound=length_bound, tap=tap.within("encoder"))
    words = token_table(spec.encoder.input, table.within("encoder"))
    return Memory(*read(spec.encoder, table.within("encoder"), source, call, table=words))


def decode(
    spec: EncoderDecoder,
    weights: Table,
    target: Int[np.ndarray, "B T"],
    memory: Memory,
    *,
    real: Bool[np.ndarray, "B T"] | None = None,
    segments: Int[np.ndarray, "B T"] | None = None,
    prefix: Int[np.ndarray, " B"] | None = None,
    length_bound: int | Int[np.ndarray, " B"] | None = None,
    cache: Cache | None = None,
    tap: Tap = OFF,
) -> Float[np.ndarray, "B T V"]:
    """Logits of the next token at each target position, given the memory; with a cache, `target` continues it."""
    table = checked(weights, shapes(spec))
    checks.memory(memory, len(target), spec.encoder.width)
    if cache is not None:
        cache.hold(memory)
    call = Call(real, segments, prefix, length_bound, cache, tap.within("decoder"))
    words = token_table(spec.decoder.input, table.within("encoder" if spec.shared_vocabulary else "decoder"))
    states, known = read(spec.decoder, table.within("decoder"), target, call, table=words, memory=memory)
    return head(spec.head, table.within("head"), states, known, target, words, tap.within("head"))


def translate_logits(
    spec: EncoderDecoder,
    weights: Table,
    source: np.ndarray,
    target: Int[np.ndarray, "B T"],
    source_real: Bool[np.ndarray, "B S"] | None = None,
    target_real: Bool[np.ndarray, "B T"] | None = None,
    *,
    tap: Tap = OFF,
) -> Float[np.ndarray, "B T V"]:
    """Source and target in, logits of each next target token out: the whole of the paper's figure 1."""
    memory = encode(spec, weights, source, real=source_real, tap=tap)
    return decode(spec, weights, target, memory, real=target_real, tap=tap)


def compare(
    spec: TwoTowers,
    weights: Table,
    ids: Int[np.ndarray, "B T"],
    images: Float[np.ndarray, "N C height width"],
    *,
    real: Bool[np.ndarray, "B T"] | None = None,
    tap: Tap = OFF,
) -> Float[np.ndarray, "B N"]:
    """How well each text fits each image: e^scale · text · image (Radford et al. 2021, arXiv 2103.00020)."""
    table = checked(weights, shapes(spec))
    text = _single(spec.text, table.within("text"), ids, Call(real, tap=tap.within("text")))
    image = _single(spec.image, table.within("image"), images, Call(tap=tap.within("image")))
    return np.exp(table["scale"]) * text @ image.T


def _single(spec: SingleStack, weights: Weights, inputs: np.ndarray, call: Call) -> np.ndarray:
    side, stack = "decoder" if isinstance(spec, DecoderOnly) else "encoder", main_stack(spec)
    checks.cacheable(call.cache, stack.input, pooling_of(spec.head))
    own, tap = weights.within(side), call.tap.within("head")
    words = token_table(stack.input, own)
    states, real = read(stack, own, inputs, call.inside(side), table=words)
    answer = head(spec.head, weights.within("head"), states, real, inputs, words, tap)
    if not isinstance(spec.head, Forecast):
        return answer
    assert isinstance(stack.input, Series)
    return series.forecast(stack.input, own.within("embed"), answer, inputs)


def token_table(source: Input, weights: Weights) -> Float[np.ndarray, "V D"] | None:
    """The rows that tokens are looked up in, and that a tied head looks for; None where the input has no tokens."""
    return weights["embed.token.weight"] if isinstance(source, Tokens) else None
