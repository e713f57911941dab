"""The bend between two matrices."""

from __future__ import annotations

import math
from typing import assert_never

import numpy as np
from jaxtyping import Float

from clearformer.spec import Activation

_erf = np.vectorize(math.erf, otypes=[np.float64])


def activate(name: Activation, x: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """The named activation of every number of x."""
    match name:
        case "relu":
            return np.maximum(x, 0.0)
        case "gelu":
            return 0.5 * x * (1.0 + _erf(x / math.sqrt(2.0)))
        case "gelu_tanh":
            return 0.5 * x * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))
        case "quick_gelu":
            return x * sigmoid(1.702 * x)
        case "silu":
            return x * sigmoid(x)
        case "tanh":
            return np.tanh(x)
        case _:
            assert_never(name)


def sigmoid(x: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """1 / (1 + e^−x); no exponential overflows, and tiny values, which routers divide by, keep their digits."""
    return np.exp(-np.logaddexp(0.0, -x))
