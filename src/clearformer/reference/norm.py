"""Normalisation over the last dimension."""

from __future__ import annotations

from typing import assert_never

import numpy as np
from jaxtyping import Float

from clearformer.reference.weights import Weights
from clearformer.spec import LayerNorm, Norm, RMSNorm


def norm(spec: Norm | None, weights: Weights, x: Float[np.ndarray, "... D"]) -> Float[np.ndarray, "... D"]:
    """The norm of the spec with its weights; an empty place (None) hands x through."""
    match spec:
        case None:
            return x
        case LayerNorm(eps=eps):
            x = layer_norm(x, eps)
        case RMSNorm(eps=eps, unit_offset=unit_offset):
            return rms_norm(x, eps) * (weights["weight"] + unit_offset)
        case _:
            assert_never(spec)
    x = x * weights["weight"] if spec.weight else x
    return x + weights["bias"] if spec.bias else x


def layer_norm(x: Float[np.ndarray, "... D"], eps: float = 1e-5) -> Float[np.ndarray, "... D"]:
    """(x − mean) / √(variance + eps), the variance biased (Ba et al. 2016, arXiv 1607.06450)."""
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps)


def rms_norm(x: Float[np.ndarray, "... D"], eps: float = 1e-6) -> Float[np.ndarray, "... D"]:
    """x / √(mean(x²) + eps) (Zhang and Sennrich 2019, arXiv 1910.07467)."""
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
