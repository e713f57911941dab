"""How weights are drawn before training. Biases start at 0 and norm weights at the identity, always."""

from __future__ import annotations

from dataclasses import dataclass

from clearformer.spec import checks


@dataclass(frozen=True)
class Normal:
    """N(0, std²); with `residual_scaled`, the projections that write to the residual stream by std/√(2L), where L is
    the number of blocks (GPT-2 §2.3)."""

    std: float = 0.02
    residual_scaled: bool = True

    def __post_init__(self) -> None:
        checks.above_zero(self, "std")


@dataclass(frozen=True)
class Xavier:
    """Uniform in ±gain·√(6 / (fan_in + fan_out)) for matrices (Glorot and Bengio 2010); tables by N(0, 1/D)."""

    gain: float = 1.0

    def __post_init__(self) -> None:
        checks.above_zero(self, "gain")


@dataclass(frozen=True)
class T5Init:
    """N(0, factor²) for tables, by factor/√fan_in for matrices and factor/√D for relative biases, queries by a further
    1/√K since T5 does not scale scores (Raffel et al. 2019, arXiv 1910.10683)."""

    factor: float = 1.0

    def __post_init__(self) -> None:
        checks.above_zero(self, "factor")


Initialisation = Normal | Xavier | T5Init
