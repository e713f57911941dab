"""What is read from the last hidden states: logits, numbers, or a vector."""

from __future__ import annotations

from typing import assert_never

import numpy as np
from jaxtyping import Bool, Float

from clearformer.errors import UsageError
from clearformer.messages import reference as messages
from clearformer.reference.activation import activate
from clearformer.reference.norm import norm
from clearformer.reference.weights import Weights, linear
from clearformer.spec import (
    Classes,
    EndToken,
    First,
    Flatten,
    Forecast,
    Head,
    Hidden,
    Language,
    Last,
    Mean,
    Pooling,
    Regression,
    Take,
    Transform,
    Vector,
)
from clearformer.taps import OFF, Tap


def head(
    spec: Head,
    weights: Weights,
    states: Float[np.ndarray, "B T D"],
    real: Bool[np.ndarray, "B T"],
    inputs: np.ndarray,
    table: Float[np.ndarray, "V D"] | None = None,
    tap: Tap = OFF,
) -> np.ndarray:
    """Language: B T V, Hidden: B T D, others B × numbers. `inputs` are the ids that an end token is looked for in."""
    match spec:
        case Hidden():
            return states
        case Language():
            return tap("logits", language(spec, weights, states, table))
        case Classes() | Regression() | Forecast():
            pooled = pool(spec.pooling, weights, states, real, inputs, tap)
            return tap("logits", linear(pooled, weights.within("project")))
        case Vector():
            vector = pool(spec.pooling, weights, states, real, inputs, tap)
            vector = vector if spec.width is None else linear(vector, weights.within("project"))
            return tap("logits", unit(vector) if spec.normalise else vector)
        case _:
            assert_never(spec)


def language(
    spec: Language, weights: Weights, x: Float[np.ndarray, "B T D"], table: Float[np.ndarray, "V D"] | None
) -> Float[np.ndarray, "B T V"]:
    """Logits: how well each hidden state matches each row of the (tied or own) table."""
    x = x * spec.hidden_scale
    if spec.transform is not None:
        x = transform(spec.transform, weights.within("transform"), x)
    words = table if spec.tied else weights["project.weight"]
    assert words is not None
    logits = x @ words.T + (weights["bias"] if spec.bias else 0.0)
    return logits if spec.cap is None else spec.cap * np.tanh(logits / spec.cap)


def transform(spec: Transform, weights: Weights, x: Float[np.ndarray, "*any D"]) -> Float[np.ndarray, "*any D"]:
    """norm(activation(x W + b)), width to width."""
    x = activate(spec.activation, linear(x, weights.within("dense")))
    return norm(spec.norm, weights.within("norm"), x)


def pool(
    spec: Pooling,
    weights: Weights,
    states: Float[np.ndarray, "B T D"],
    real: Bool[np.ndarray, "B T"],
    inputs: np.ndarray,
    tap: Tap = OFF,
) -> Float[np.ndarray, "B width"]:
    """One vector a sequence, perhaps transformed."""
    taken = take(spec.take, states, real, inputs)
    if spec.transform is not None:
        taken = transform(spec.transform, weights.within("pooling.transform"), taken)
    return tap("pooled", taken.reshape(len(taken), -1))


def take(
    spec: Take, states: Float[np.ndarray, "B T D"], real: Bool[np.ndarray, "B T"], inputs: np.ndarray
) -> Float[np.ndarray, "B taken D"]:
    """The states that a pooling reads, B 1 D; B T D to flatten. Pads are never read."""
    last = real.shape[1] - 1
    match spec:
        case Mean():
            total = (states * real[:, :, None]).sum(axis=1, keepdims=True)
            return total / np.maximum(real.sum(axis=1), 1)[:, None, None]
        case First():
            at = np.argmax(real, axis=1)
        case Last():
            at = last - np.argmax(real[:, ::-1], axis=1)
        case EndToken(id=end):
            ends = (inputs == end) & real
            for row in np.flatnonzero(~ends.any(axis=1)):
                raise UsageError(messages.END_NOT_FOUND, row=int(row), id=end)
            at = np.argmax(ends, axis=1)
        case Flatten(length=length):
            if states.shape[1] != length:
                found = states.shape[1]
                raise UsageError(messages.ARRAY_SHAPE, what="states", expected=f"B {length} D", found=f"B {found} D")
            return states
        case _:
            assert_never(spec)
    return np.take_along_axis(states, at[:, None, None], axis=1)


def unit(x: Float[np.ndarray, "... D"]) -> Float[np.ndarray, "... D"]:
    """x at length one; a zero vector stays zero."""
    return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12)
