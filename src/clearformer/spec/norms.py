"""Normalisation: what is divided out of a vector before a sublayer reads it."""

from __future__ import annotations

from dataclasses import dataclass

from clearformer.spec import checks


@dataclass(frozen=True)
class LayerNorm:
    """(x − mean) / √(variance + eps) · weight + bias (Ba et al. 2016, arXiv 1607.06450).

    `weight=False` is OLMo's norm without parameters.
    """

    eps: float = 1e-5
    weight: bool = True
    bias: bool = True

    def __post_init__(self) -> None:
        checks.above_zero(self, "eps")


@dataclass(frozen=True)
class RMSNorm:
    """x / √(mean(x²) + eps) · weight (Zhang and Sennrich 2019, arXiv 1910.07467).

    `unit_offset` multiplies by 1 + weight (Gemma). `scale_first` multiplies while still in float32 and rounds last
    (Gemma); otherwise the normalised vector is rounded to the model's type before the weight (Llama, T5).
    """

    eps: float = 1e-6
    unit_offset: bool = False
    scale_first: bool = False

    def __post_init__(self) -> None:
        checks.above_zero(self, "eps")


Norm = LayerNorm | RMSNorm
