"""A spec's weights before any file: their names and shapes, and random numbers to fill them."""

from __future__ import annotations

import math
from typing import assert_never

import numpy as np

from clearformer.reference.weight_table import Weight, model
from clearformer.spec import Spec, TwoTowers


def shapes(spec: Spec) -> dict[str, tuple[int, ...]]:
    """Every weight of the spec, by its name in the PyTorch model; a shared table stands once."""
    return {weight.name: weight.shape for weight in model(spec)}


def draw(spec: Spec, rng: np.random.Generator, scale: float = 1.5) -> dict[str, np.ndarray]:
    """Weights of trained size: matrices N(0, scale²/fan_in), gains in 1 ± 0.3, offsets and biases in ± 0.3.

    At the size of an untrained model's weights attention is nearly uniform, and wrong code passes for right.
    """

    def numbers(weight: Weight) -> np.ndarray:
        match weight.kind:
            case "matrix":
                return rng.standard_normal(weight.shape) * scale / math.sqrt(weight.shape[-1])
            case "gain":
                return rng.uniform(0.7, 1.3, weight.shape)
            case "offset":
                return rng.uniform(-0.3, 0.3, weight.shape)
            case "scale":
                assert isinstance(spec, TwoTowers)
                return np.asarray(spec.initial_scale)
            case _:
                assert_never(weight.kind)

    return {weight.name: numbers(weight) for weight in model(spec)}
