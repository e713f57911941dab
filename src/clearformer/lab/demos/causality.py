"""Demonstration 2: the causal mask, and why hidden scores are neither 0 nor a large negative number."""

from __future__ import annotations

import numpy as np

from clearformer.lab.demos.page import Page
from clearformer.lab.demos.parts import Parts
from clearformer.messages import lab as say
from clearformer.reference.mask import causal

NAME = say.CAUSAL

LENGTH, WIDTH = 4, 8
FILL = -1e9


def demonstrate(page: Page, parts: Parts) -> None:
    """The mask on four tokens; then a row that the mask leaves nothing to see."""
    rng = np.random.default_rng(2)
    query, key, value = rng.standard_normal((3, LENGTH, WIDTH))
    visible = causal(LENGTH)
    future = ~visible
    page.say(say.CAUSAL_MASK)
    page.show("mask", visible.astype(int))
    scores = query @ key.T / np.sqrt(WIDTH)
    page.say(say.CAUSAL_SCORES)
    page.show("scores", scores)

    output, weights = parts.attend(query, key, value, visible)
    page.say(say.CAUSAL_WEIGHTS)
    page.show("weights", weights)
    page.require(not weights[future].any(), say.UPPER_LAW, expected=np.zeros(6), found=weights[future])
    sums = weights.sum(axis=-1)
    page.require(np.allclose(sums, 1.0, atol=1e-12), say.ROWS_SUM_LAW, expected=np.ones(LENGTH), found=sums)
    first = np.eye(LENGTH)[0]
    page.require(np.array_equal(weights[0], first), say.FIRST_ROW_LAW, expected=first, found=weights[0])

    key, value = key.copy(), value.copy()
    key[2:], value[2:] = rng.standard_normal((2, 2, WIDTH))
    other, _ = parts.attend(query, key, value, visible)
    page.require(np.array_equal(other[:2], output[:2]), say.FUTURE_LAW, expected=output[:2], found=other[:2])
    page.record(upper_triangle_max=float(np.abs(weights[future]).max()), row_0=weights[0])

    show_fills(page, parts, scores, value, visible & (np.arange(LENGTH) > 0))


def show_fills(page: Page, parts: Parts, scores: np.ndarray, value: np.ndarray, visible: np.ndarray) -> None:
    """Token 0 is padding, so query 0 sees nothing: three ways to hide a score, and what each makes of that row."""
    page.say(say.FILL)
    uniform = plain_softmax(np.where(visible, scores, FILL))[0]
    page.show("row 0", uniform)
    ahead = float(uniform[1:].sum())
    page.require(ahead == 0.75, say.UNIFORM_LAW, expected=0.75, found=ahead)

    page.say(say.FILL_HALF)
    # Both warnings are the point of the exercise.
    with np.errstate(over="ignore", invalid="ignore"):
        fill = np.array(FILL).astype(np.float16)
        half = plain_softmax(np.where(visible, scores.astype(np.float16), fill))[0]
    page.show("float16(−1e9)", fill)
    page.show("row 0", half)
    lost = bool(np.isneginf(fill) and np.isnan(half).all())
    page.require(lost, say.HALF_LAW, expected="-inf nan", found=f"{fill} {half[0]}")

    page.say(say.FILL_LIBRARY)
    blind = parts.attend(np.zeros_like(value), value, value, visible)[1][0]
    page.show("row 0", blind)
    page.require(not blind.any(), say.BLIND_LAW, expected=np.zeros(LENGTH), found=blind)
    page.record(finite_fill_future_weight=ahead, blind_row=blind)


def plain_softmax(scores: np.ndarray) -> np.ndarray:
    """The textbook's softmax, which knows of no mask."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)
