"""The network that each position passes alone."""

from __future__ import annotations

from typing import assert_never

import numpy as np
from jaxtyping import Float

from clearformer.reference.activation import activate
from clearformer.reference.experts import experts
from clearformer.reference.weights import Weights, linear
from clearformer.spec import Dense, Experts, FeedForward, Gated
from clearformer.taps import OFF, Tap


def feedforward(
    spec: FeedForward, weights: Weights, x: Float[np.ndarray, "B T D"], tap: Tap = OFF
) -> Float[np.ndarray, "B T D"]:
    """One network for all, or the experts that each token's router chooses."""
    match spec:
        case Dense() | Gated():
            return tap("output", network(spec, weights, x, tap))
        case Experts():
            return tap("output", experts(spec, weights, x, network, tap))
        case _:
            assert_never(spec)


def network(
    spec: Dense | Gated, weights: Weights, x: Float[np.ndarray, "... D"], tap: Tap = OFF
) -> Float[np.ndarray, "... D"]:
    """Dense: act(x W_up) W_down (arXiv 1706.03762 §3.3). Gated: (act(x W_gate) ⊙ x W_up) W_down (arXiv 2002.05202)."""
    up = linear(x, weights.within("up"))
    match spec:
        case Dense():
            hidden = activate(spec.activation, up)
        case Gated():
            hidden = tap("gate", activate(spec.activation, linear(x, weights.within("gate")))) * up
        case _:
            assert_never(spec)
    return linear(tap("hidden", hidden), weights.within("down"))
