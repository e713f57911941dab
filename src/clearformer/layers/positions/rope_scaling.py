"""Rotary frequencies, and the published ways of stretching them past the trained length.

Each function returns frequencies in radians a position and the factor on cosines and sines. They are computed in
float64: a relative error of float32 grows with the position.
"""

from __future__ import annotations

import math
from typing import assert_never

import torch
from jaxtyping import Float, Int
from torch import Tensor

from clearformer.spec import DynamicNTK, LinearScaling, Llama3Scaling, LongRoPE, RopeScaling, YaRN

Frequencies = Float[Tensor, "#B half"]


def frequencies(
    base: float, width: int, scaling: RopeScaling | None, length_bound: Int[Tensor, " B"]
) -> tuple[Frequencies, float]:
    """base^(−2i/R), scaled. `length_bound` is each sequence's declared length; DynamicNTK and LongRoPE read it."""
    pair = torch.arange(0, width, 2, dtype=torch.float64, device=length_bound.device)[None] / width
    plain = base**-pair
    match scaling:
        case None:
            return plain, 1.0
        case LinearScaling(factor=factor):
            return plain / factor, 1.0
        case DynamicNTK():
            return _dynamic_ntk(base, pair, scaling, width, length_bound), 1.0
        case YaRN():
            default = 0.1 * math.log(scaling.factor) + 1 if scaling.factor > 1 else 1.0
            factor = scaling.attention_factor if scaling.attention_factor is not None else default
            return _yarn(plain, scaling, base, width), factor
        case Llama3Scaling():
            return _llama3(plain, scaling), 1.0
        case LongRoPE():
            short = plain / torch.tensor(scaling.short, dtype=torch.float64, device=plain.device)
            long = plain / torch.tensor(scaling.long, dtype=torch.float64, device=plain.device)
            past = (length_bound > scaling.original_length)[:, None]
            return torch.where(past, long, short), scaling.attention_factor
        case _:
            assert_never(scaling)


def _dynamic_ntk(
    base: float, pair: Float[Tensor, "1 half"], scaling: DynamicNTK, width: int, length_bound: Int[Tensor, " B"]
) -> Frequencies:
    length = length_bound.clamp(min=scaling.original_length).double()[:, None]
    stretch = scaling.factor * length / scaling.original_length - (scaling.factor - 1)
    return (base * stretch ** (width / max(width - 2, 1))) ** -pair


def _yarn(plain: Frequencies, scaling: YaRN, base: float, width: int) -> Frequencies:
    """Pairs that turn more than beta_fast times in the original length are kept, fewer than beta_slow interpolated."""

    def pair_that_turns(times: float) -> float:
        return width * math.log(scaling.original_length / (times * 2 * math.pi)) / (2 * math.log(base))

    low, high = pair_that_turns(scaling.beta_fast), pair_that_turns(scaling.beta_slow)
    if scaling.truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    high = high + 0.001 if low == high else high  # As published: a step stays a ramp.
    index = torch.arange(width // 2, dtype=torch.float64, device=plain.device)
    interpolated = ((index - low) / (high - low)).clamp(0, 1)
    return plain / scaling.factor * interpolated + plain * (1 - interpolated)


def _llama3(plain: Frequencies, scaling: Llama3Scaling) -> Frequencies:
    """`kept` goes from 0 where a pair turns `low_frequency` times in the original length to 1 at `high_frequency`."""
    turns = scaling.original_length * plain / (2 * math.pi)
    kept = ((turns - scaling.low_frequency) / (scaling.high_frequency - scaling.low_frequency)).clamp(0, 1)
    return plain / scaling.factor * (1 - kept) + plain * kept
