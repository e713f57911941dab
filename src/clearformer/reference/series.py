"""A real-valued series as a sequence of patches, and a forecast as its continuation."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from clearformer.reference.weights import Weights
from clearformer.spec import ReversibleNorm, Series

Window = Float[np.ndarray, "B steps C"]
Steps = Float[np.ndarray, "B horizon C"]
Level = Float[np.ndarray, "B 1 C"]


def cut(spec: Series, weights: Weights, window: Window) -> Float[np.ndarray, "rows N P"]:
    """Patches counted from the latest step, each flattened step by step; independent channels become rows, B-major."""
    if spec.normalise is not None:
        window = remove_level(spec.normalise, weights.within("normalise"), window)
    if spec.independent:
        window = np.swapaxes(window, 1, 2).reshape(-1, window.shape[1], 1)
    count = spec.length(window.shape[1])
    first = window.shape[1] - spec.patch - (count - 1) * spec.stride
    starts = first + spec.stride * np.arange(count)
    steps = starts[:, None] + np.arange(spec.patch)
    return window[:, steps].reshape(len(window), count, -1)


def forecast(
    spec: Series, weights: Weights, answer: Float[np.ndarray, "rows numbers"], window: Window
) -> Float[np.ndarray, "B horizon C"]:
    """The head's numbers as steps that follow the window, at the window's own level."""
    batch, _, channels = window.shape
    if spec.independent:
        steps = np.swapaxes(answer.reshape(batch, channels, -1), 1, 2)
    else:
        steps = answer.reshape(batch, -1, channels)
    if spec.normalise is None:
        return steps
    return restore_level(spec.normalise, weights.within("normalise"), steps, window)


def level(window: Window, eps: float) -> tuple[Level, Level]:
    """Mean and deviation of each channel over all steps of the window."""
    return window.mean(axis=1, keepdims=True), np.sqrt(window.var(axis=1, keepdims=True) + eps)


def remove_level(spec: ReversibleNorm, weights: Weights, window: Window) -> Window:
    """(x − mean) / deviation, then the learnt scale and shift (Kim et al. 2022, RevIN)."""
    mean, deviation = level(window, spec.eps)
    x = (window - mean) / deviation
    return x * weights["weight"] + weights["bias"] if spec.affine else x


def restore_level(spec: ReversibleNorm, weights: Weights, steps: Steps, window: Window) -> Steps:
    """The inverse of `remove_level`, on steps that it never saw."""
    mean, deviation = level(window, spec.eps)
    x = (steps - weights["bias"]) / weights["weight"] if spec.affine else steps
    return x * deviation + mean
