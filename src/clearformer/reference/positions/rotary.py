"""Positions as rotations of queries and keys (Su et al. 2021, arXiv 2104.09864)."""

from __future__ import annotations

from typing import assert_never

import numpy as np
from jaxtyping import Float, Int

from clearformer.reference.positions.rope_scaling import frequencies
from clearformer.spec import Layout, Rotary


def turn(
    spec: Rotary,
    x: Float[np.ndarray, "B H T K"],
    position: Int[np.ndarray, "B T"],
    bound: Int[np.ndarray, " B"],
) -> Float[np.ndarray, "B H T K"]:
    """The first R numbers of every head turned by its position; each row by the table of its declared length."""
    width = spec.rotated(x.shape[-1])
    rows = [frequencies(spec, width, int(length)) for length in bound]
    angle = position[:, None, :, None] * np.stack([frequency for frequency, _ in rows])[:, None, None, :]
    factor = np.array([factor for _, factor in rows])[:, None, None, None]
    turned = rotate(x[..., :width], factor * np.cos(angle), factor * np.sin(angle), spec.layout)
    return np.concatenate([turned, x[..., width:]], axis=-1)


def rotate(
    x: Float[np.ndarray, "... T R"],
    cosine: Float[np.ndarray, "... T pairs"],
    sine: Float[np.ndarray, "... T pairs"],
    layout: Layout = "halves",
) -> Float[np.ndarray, "... T R"]:
    """(x₁, x₂) → (x₁ cos − x₂ sin, x₂ cos + x₁ sin) for every pair of numbers, paired as the layout says."""
    match layout:
        case "halves":
            first, second = np.split(x, 2, axis=-1)
        case "interleaved":
            first, second = x[..., 0::2], x[..., 1::2]
        case _:
            assert_never(layout)
    turned = (first * cosine - second * sine, second * cosine + first * sine)
    return np.concatenate(turned, axis=-1) if layout == "halves" else np.stack(turned, axis=-1).reshape(x.shape)
