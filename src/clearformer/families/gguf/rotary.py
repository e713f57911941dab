"""Rotary positions in GGUF: `rope.*` keys, and divisors of the frequencies as tensors of their own.

llama.cpp: `llama_model_base::load_hparams`, `get_rope_factors`, `ggml_rope_ext`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from clearformer.checkpoint.tensor_file import TensorFile
from clearformer.errors import CheckpointError
from clearformer.families.config_reader import ConfigReader
from clearformer.families.gguf.values import decimal
from clearformer.families.rope import sharpening
from clearformer.messages import families as say
from clearformer.spec import (
    Attention,
    AttentionPosition,
    LinearScaling,
    Llama3Scaling,
    LongRoPE,
    RopeScaling,
    Rotary,
    YaRN,
)

FREQS, LONG, SHORT = "rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"
Divisors = Literal["none", "by length", "one or by length"]
"""Which tensors of divisors an architecture reads: none, a pair for short and long texts (Phi-3), or one as well."""


@dataclass(frozen=True)
class Words:
    """What an architecture can say of rotary positions; `stem` begins its keys. `kinds` are the scalings by keys alone,
    of which llama.cpp means the first where a file names none; `partial`, that a part of a head may turn."""

    stem: str
    divisors: Divisors = "none"
    kinds: tuple[str, ...] = ("linear", "none", "yarn")
    partial: bool = False


# How Llama 3.1 to 3.3 were trained; a file keeps the resulting divisors and not these.
_PUBLISHED = Llama3Scaling(8.0, 8192, 1.0, 4.0)
_BETAS = (32.0, 1.0)


def read_rotary(metadata: ConfigReader, tensors: TensorFile, words: Words, width: int, context: int) -> Rotary:
    """The positions of heads that are `width` wide. Raises CheckpointError naming the key or the tensor."""
    stem = f"{words.stem}rope."
    base = decimal(metadata.number(f"{stem}freq_base", 10000.0))
    turned = metadata.whole(f"{stem}dimension_count", width)
    if not words.partial:
        metadata.only(f"{stem}dimension_count", width)
    metadata.harmless((f"{stem}scaling.finetuned",))
    scaling = _by_keys(metadata, tensors, words, turned, context)
    if words.divisors == "one or by length" and FREQS in tensors.names():
        if scaling:
            metadata.contradiction(f"{stem}scaling.type", FREQS, say.SCALED_TWICE)
        scaling = _by_divisors(_vector(tensors, FREQS, turned // 2), base, turned, context)
    return Rotary(base, None if turned == width else turned, scaling=scaling)


def _by_keys(
    metadata: ConfigReader, tensors: TensorFile, words: Words, turned: int, context: int
) -> RopeScaling | None:
    stem = f"{words.stem}rope.scaling."
    held = words.divisors != "none" and {LONG, SHORT} & set(tensors.names())
    kinds = ("longrope",) if held else words.kinds
    kind = metadata.choice(f"{stem}type", {each: each for each in kinds}, kinds[0])
    for key, value in (("yarn_ext_factor", 1.0), ("yarn_attn_factor", 1.0), ("yarn_log_multiplier", 0.0)):
        metadata.only(f"{stem}{key}", value)
    factor = decimal(metadata.number(f"{stem}factor", metadata.number(f"{words.stem}rope.scale_linear", 1.0)))
    original = metadata.whole(f"{stem}original_context_length", context)
    attention = decimal(metadata.number(f"{stem}attn_factor", 1.0))
    fast = decimal(metadata.number(f"{stem}yarn_beta_fast", _BETAS[0]))
    slow = decimal(metadata.number(f"{stem}yarn_beta_slow", _BETAS[1]))
    if kind == "longrope":
        metadata.only(f"{stem}factor", 1.0)
        short, long = (_vector(tensors, name, turned // 2) for name in (SHORT, LONG))
        return LongRoPE(short, long, original, attention)
    if kind == "yarn":
        whole = None if attention == 1.0 else decimal_product(attention, sharpening(factor, 1.0))
        return YaRN(factor, original, fast, slow, whole)
    metadata.only(f"{stem}attn_factor", 1.0)
    # 0 stands for a factor that was never set.
    return LinearScaling(factor) if kind == "linear" and factor not in (0.0, 1.0) else None


def decimal_product(first: float, second: float) -> float:
    """What was divided before it was rounded to float32."""
    return float(f"{first * second:.7g}")


def _vector(tensors: TensorFile, name: str, length: int) -> tuple[float, ...]:
    """`length` divisors. Their number is judged before any is read."""
    shape = tensors.shape(name) if name in tensors.names() else ()
    if shape != (length,):
        expected, found = f"{length} numbers", " × ".join(map(str, shape)) or "0"
        raise CheckpointError(say.BAD_VALUE, path=tensors.path, key=name, expected=expected, found=found)
    return tuple(tensors.tensor(name).double().tolist())


def _by_divisors(found: tuple[float, ...], base: float, width: int, context: int) -> RopeScaling:
    """Llama 3's scaling if its published settings give these divisors, else the divisors themselves."""
    factor = decimal(max(found))
    if base > 1 and factor >= 1:
        published = dataclasses.replace(_PUBLISHED, factor=factor)
        expected = llama3_divisors(published, base, width)
        if all(math.isclose(a, b, rel_tol=1e-5) for a, b in zip(expected, found, strict=True)):
            return published
    return LongRoPE(found, found, context, 1.0)


def llama3_divisors(scaling: Llama3Scaling, base: float, width: int) -> tuple[float, ...]:
    """By how much Llama 3 slows each pair: 1 for short waves, `factor` for long ones, a blend between."""
    low, high = scaling.low_frequency, scaling.high_frequency
    divisors = []
    for pair in range(width // 2):
        turns = scaling.original_length / (2 * math.pi * base ** (2 * pair / width))
        kept = min(max((turns - low) / (high - low), 0.0), 1.0)
        divisors.append(1 / ((1 - kept) / scaling.factor + kept))
    return tuple(divisors)


def divisors_alone(attention: Attention) -> AttentionPosition | None:
    """The positions as a file keeps them: of Llama 3's scaling the divisors, and of two equal lists no length between
    them."""
    position = attention.position
    if not isinstance(position, Rotary):
        return position
    match position.scaling:
        case Llama3Scaling() as scaling:
            found = llama3_divisors(scaling, position.base, position.rotated(attention.key_width))
        case LongRoPE(short, long, _, 1.0) if short == long:
            found = short
        case _:
            return position
    return dataclasses.replace(position, scaling=LongRoPE(found, found, 1, 1.0))


def write_rotary(rotary: Rotary, words: Words, width: int) -> tuple[dict[str, object], Mapping[str, tuple[float, ...]]]:
    """Keys and tensors of divisors. What they cannot say is found when they are read back."""
    stem, turned, divisors = f"{words.stem}rope.", rotary.rotated(width), words.divisors
    keys: dict[str, object] = {f"{stem}freq_base": rotary.base, f"{stem}dimension_count": turned}
    scale = f"{stem}scaling."
    match rotary.scaling:
        case LinearScaling(factor) if "linear" in words.kinds:
            keys |= {f"{scale}type": "linear", f"{scale}factor": factor}
        case YaRN(factor, original, fast, slow, attention) if (fast, slow) == _BETAS and "yarn" in words.kinds:
            keys |= {f"{scale}type": "yarn", f"{scale}factor": factor, f"{scale}original_context_length": original}
            if attention is not None:
                # llama.cpp multiplies by the paper's own factor in any case.
                keys[f"{scale}attn_factor"] = attention / sharpening(factor, 1.0)
        case Llama3Scaling() as llama3 if divisors == "one or by length":
            return keys, {FREQS: llama3_divisors(llama3, rotary.base, turned)}
        case LongRoPE(short, long, _, 1.0) if short == long and divisors == "one or by length":
            return keys, {FREQS: short}
        case LongRoPE(short, long, original, attention) if divisors != "none":
            keys |= {f"{scale}type": "longrope", f"{scale}original_context_length": original}
            keys[f"{scale}attn_factor"] = attention
            return keys, {LONG: long, SHORT: short}
    return keys, {}
