"""A penalty on distance, added to the scores (Press et al. 2021, arXiv 2108.12409)."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor


def slopes(heads: int, max_bias: float) -> list[float]:
    """One slope a head, a geometric series; heads past a power of two take every other slope of the next one."""
    whole = 1 << (heads.bit_length() - 1)
    series = [2 ** (-max_bias * (head + 1) / whole) for head in range(whole)]
    between = [2 ** (-max_bias * (2 * extra + 1) / (2 * whole)) for extra in range(heads - whole)]
    return series + between


def distance_penalty(
    heads: int,
    max_bias: float,
    query_positions: Int[Tensor, "B T"],
    key_positions: Int[Tensor, "B S"],
    dtype: torch.dtype,
) -> Float[Tensor, "B H T S"]:
    """−slope · |i − j|."""
    slope = torch.tensor(slopes(heads, max_bias), device=query_positions.device, dtype=dtype)
    distance = (query_positions[:, :, None] - key_positions[:, None, :]).abs().to(dtype)
    return -slope[:, None, None] * distance[:, None]
