"""The two parts of a Transformer that a demonstration is handed, sound or with a fault planted in them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, assert_never

import numpy as np

from clearformer.messages import Message
from clearformer.messages import lab as say
from clearformer.reference.attention import scaled_dot_product_attention, softmax
from clearformer.reference.positions.sinusoidal import sinusoidal
from clearformer.taps import OFF, Tap

Fault = Literal["no-scale", "zero-fill", "softmax-axis-0", "no-positions"]

FAULTS: dict[Fault, Message] = {
    "no-scale": say.NO_SCALE,
    "zero-fill": say.ZERO_FILL,
    "softmax-axis-0": say.SOFTMAX_AXIS_0,
    "no-positions": say.NO_POSITIONS,
}


@dataclass(frozen=True)
class Parts:
    """`attend(query, key, value, visible, tap=…)` gives output and weights, `positions(count, width)` rows to add."""

    attend: Callable[..., tuple[np.ndarray, np.ndarray]]
    positions: Callable[[int, int], np.ndarray]


def parts(fault: Fault | None) -> Parts:
    """The library's own parts; with a fault, one of them replaced by another function or argument."""
    sound = Parts(scaled_dot_product_attention, positions)
    match fault:
        case None:
            return sound
        case "no-scale":
            return Parts(partial(scaled_dot_product_attention, scale=1.0), positions)
        case "zero-fill":
            return Parts(attention_with_zero_fill, positions)
        case "softmax-axis-0":
            return Parts(attention_over_queries, positions)
        case "no-positions":
            return Parts(scaled_dot_product_attention, no_positions)
        case _:
            assert_never(fault)


def positions(count: int, width: int) -> np.ndarray:
    """The paper's sinusoids of positions 0 … count − 1, T D."""
    return sinusoidal(np.arange(count), width)


def no_positions(count: int, width: int) -> np.ndarray:
    """Nothing: every token stands nowhere."""
    return np.zeros((count, width))


def attention_with_zero_fill(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, visible: np.ndarray | None = None, tap: Tap = OFF
) -> tuple[np.ndarray, np.ndarray]:
    """Wrong on purpose: a hidden score becomes 0, and e⁰ = 1 takes part in the softmax."""
    scores = tap("scores", query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1]))
    weights = softmax(scores if visible is None else np.where(visible, scores, 0.0))
    return weights @ value, weights


def attention_over_queries(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, visible: np.ndarray | None = None, tap: Tap = OFF
) -> tuple[np.ndarray, np.ndarray]:
    """Wrong on purpose: every column sums to 1 instead of every row."""
    scores = tap("scores", query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1]))
    columns = softmax(np.swapaxes(scores, -1, -2), None if visible is None else np.swapaxes(visible, -1, -2))
    weights = np.swapaxes(columns, -1, -2)
    return weights @ value, weights
