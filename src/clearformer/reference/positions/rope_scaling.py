"""Rotary frequencies for sequences longer than those trained on: five ways to slow the rotation down."""

from __future__ import annotations

import math
from typing import assert_never

import numpy as np
from jaxtyping import Float

from clearformer.spec import DynamicNTK, LinearScaling, Llama3Scaling, LongRoPE, Rotary, YaRN

Frequencies = Float[np.ndarray, " pairs"]


def frequencies(spec: Rotary, width: int, length_bound: int) -> tuple[Frequencies, float]:
    """Angle a position for each of the width/2 pairs, and the factor on cosines and sines.

    `length_bound` is the length that the sequence is declared to reach; dynamic NTK and LongRoPE read it.
    """
    plain = powers(spec.base, width)
    match spec.scaling:
        case None:
            return plain, 1.0
        case LinearScaling(factor=factor):
            return plain / factor, 1.0
        case DynamicNTK() as scaling:
            return powers(dynamic_base(scaling, spec.base, width, length_bound), width), 1.0
        case YaRN() as scaling:
            return yarn(scaling, plain, spec.base), yarn_attention_factor(scaling)
        case Llama3Scaling() as scaling:
            return llama3(scaling, plain), 1.0
        case LongRoPE() as scaling:
            divisor = scaling.long if length_bound > scaling.original_length else scaling.short
            return plain / np.array(divisor), scaling.attention_factor
        case _:
            assert_never(spec.scaling)


def powers(base: float, width: int) -> Frequencies:
    """base^(−2i/R) for i < R/2."""
    return base ** (-np.arange(0, width, 2) / width)


def dynamic_base(scaling: DynamicNTK, base: float, width: int, length_bound: int) -> float:
    """base · (factor · n / original − (factor − 1))^(R/(R−2)) with n = max(bound, original)."""
    if width == 2:  # The one pair has frequency base⁰.
        return base
    length = max(length_bound, scaling.original_length)
    stretch = scaling.factor * length / scaling.original_length - (scaling.factor - 1)
    return base * stretch ** (width / (width - 2))


def yarn(scaling: YaRN, plain: Frequencies, base: float) -> Frequencies:
    """Pairs that turn often are kept, those that turn less than once are interpolated (arXiv 2309.00071 §3.2)."""
    width = 2 * len(plain)

    def pair_with(turns: float) -> float:
        """The pair, as a real number, that turns so often within the original length."""
        return width * math.log(scaling.original_length / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = pair_with(scaling.beta_fast), pair_with(scaling.beta_slow)
    if scaling.truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    high = high + 0.001 if low == high else high  # As published: a step stays a ramp.
    interpolated = np.clip((np.arange(len(plain)) - low) / (high - low), 0.0, 1.0)
    return plain / scaling.factor * interpolated + plain * (1.0 - interpolated)


def yarn_attention_factor(scaling: YaRN) -> float:
    """√(1/t) of arXiv 2309.00071 §3.4: 0.1 ln(factor) + 1; a factor up to 1 sharpens nothing."""
    if scaling.attention_factor is not None:
        return scaling.attention_factor
    return 0.1 * math.log(scaling.factor) + 1.0 if scaling.factor > 1 else 1.0


def llama3(scaling: Llama3Scaling, plain: Frequencies) -> Frequencies:
    """Wavelengths past original/low are stretched by `factor`, below original/high kept, between them blended."""
    turns = scaling.original_length * plain / (2 * math.pi)
    smooth = (turns - scaling.low_frequency) / (scaling.high_frequency - scaling.low_frequency)
    kept = np.clip(smooth, 0.0, 1.0)
    return kept * plain + (1.0 - kept) * plain / scaling.factor
