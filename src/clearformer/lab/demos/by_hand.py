"""Demonstration 1: attention over three tokens, small enough for pencil and paper."""

from __future__ import annotations

import numpy as np

from clearformer.lab.demos.page import Page
from clearformer.lab.demos.parts import Parts
from clearformer.messages import lab as say
from clearformer.taps import record

NAME = say.HAND

QUERY = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.1]])
KEY = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
VALUE = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 0.0]])

# Worked out by hand from softmax(Q Kᵀ / √2) V and rounded to four decimals.
WEIGHTS = np.array([[0.4011, 0.1978, 0.4011], [0.2483, 0.5035, 0.2483], [0.3954, 0.2092, 0.3954]])
OUTPUT = np.array([[0.8022, 0.3956], [0.4965, 1.0070], [0.7908, 0.4185]])


def demonstrate(page: Page, parts: Parts) -> None:
    """Scores, weights, output, each against the hand calculation."""
    page.say(say.HAND_INPUTS)
    for name, array in (("Q", QUERY), ("K", KEY), ("V", VALUE)):
        page.show(name, array)

    seen, tap = record("scores")
    output, weights = parts.attend(QUERY, KEY, VALUE, tap=tap)
    scores, by_hand = seen["scores"], QUERY @ KEY.T / np.sqrt(2.0)
    page.say(say.HAND_SCORES)
    page.show("Q Kᵀ / √d_k", scores)
    close = np.allclose(scores, by_hand, atol=1e-12)
    page.require(close, say.HAND_SCORES_LAW, expected=by_hand, found=scores)

    page.say(say.HAND_WEIGHTS)
    page.show("weights", weights)
    sums = weights.sum(axis=-1)
    page.require(np.allclose(sums, 1.0, atol=1e-12), say.ROWS_SUM_LAW, expected=np.ones(3), found=sums)
    page.require(agree(weights, WEIGHTS), say.HAND_FIGURES_LAW, expected=WEIGHTS, found=weights, what=say.WEIGHTS)

    page.say(say.HAND_OUTPUT)
    page.show("weights V", output)
    page.require(agree(output, OUTPUT), say.HAND_FIGURES_LAW, expected=OUTPUT, found=output, what=say.OUTPUT)
    page.record(weights=weights, output=output)


def agree(found: np.ndarray, by_hand: np.ndarray) -> bool:
    """Equal to all four decimals."""
    return bool(np.abs(found - by_hand).max() <= 0.5e-4)
