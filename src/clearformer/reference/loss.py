"""How far predictions are from what came."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int


def cross_entropy(
    logits: Float[np.ndarray, "... V"], targets: Int[np.ndarray, "..."], ignore: int | None = None
) -> float:
    """Mean −log softmax(logits)[target], in nats, over the targets that are not `ignore`."""
    kept = np.ones(targets.shape, dtype=bool) if ignore is None else targets != ignore
    chosen = np.take_along_axis(log_softmax(logits), np.where(kept, targets, 0)[..., None], axis=-1)[..., 0]
    return float(-chosen[kept].mean())


def log_softmax(logits: Float[np.ndarray, "... V"]) -> Float[np.ndarray, "... V"]:
    """log softmax over the last dimension, without taking the logarithm of a rounded zero."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
