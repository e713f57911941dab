"""Attention with linear biases: the farther, the less (Press et al. 2021, arXiv 2108.12409)."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int


def slopes(heads: int, max_bias: float = 8.0) -> Float[np.ndarray, " H"]:
    """A geometric sequence ending at 2^−max_bias; between two powers of two, every other one of the finer sequence."""
    power = 2 ** (heads.bit_length() - 1)
    coarse = np.arange(1, power + 1) / power
    between = np.arange(1, 2 * (heads - power), 2) / (2 * power)
    return 2.0 ** (-max_bias * np.concatenate([coarse, between]))


def alibi_bias(
    heads: int, query: Int[np.ndarray, "B T"], key: Int[np.ndarray, "B S"], max_bias: float = 8.0
) -> Float[np.ndarray, "B H T S"]:
    """−slope · |query position − key position|."""
    distance = np.abs(query[:, None, :, None] - key[:, None, None, :])
    return -slopes(heads, max_bias)[:, None, None] * distance
