"""Positions as sines and cosines, added to the embeddings (Vaswani et al. 2017 §3.5, arXiv 1706.03762)."""

from __future__ import annotations

from typing import assert_never

import numpy as np
from jaxtyping import Float, Int

from clearformer.spec import Layout


def sinusoidal(
    position: Int[np.ndarray, "... T"], width: int, base: float = 10000.0, layout: Layout = "interleaved"
) -> Float[np.ndarray, "... T D"]:
    """PE(pos, 2i) = sin(pos / base^(2i/D)), PE(pos, 2i+1) = cos(…); `halves` puts all sines first."""
    angle = position[..., None] * base ** (-np.arange(0, width, 2) / width)
    match layout:
        case "interleaved":
            pairs = np.stack([np.sin(angle), np.cos(angle)], axis=-1)
            return pairs.reshape(*position.shape, width)
        case "halves":
            return np.concatenate([np.sin(angle), np.cos(angle)], axis=-1)
        case _:
            assert_never(layout)
