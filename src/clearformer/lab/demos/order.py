"""Demonstration 4: attention is equivariant to order, positions break that, and so does a causal mask twice."""

from __future__ import annotations

import numpy as np

from clearformer.lab.demos.page import Page
from clearformer.lab.demos.parts import Parts
from clearformer.messages import lab as say
from clearformer.reference.attention import merge_heads, split_heads
from clearformer.reference.initial import draw
from clearformer.reference.model import run
from clearformer.spec import Attention, Block, Causal, DecoderOnly, Dense, Hidden, LayerNorm, Stack, Tokens

NAME = say.ORDER

ORDER = np.array([2, 0, 1])
WIDTH, HEADS = 8, 2
ROUNDING = 1e-12  # sums of a few dozen float64 numbers near 1, added in another order
DIFFERENT = 1e-3  # far above rounding, far below numbers near 1


def demonstrate(page: Page, parts: Parts) -> None:
    """Without positions, with them, and with a mask in their place."""
    rng = np.random.default_rng(4)
    tokens = rng.standard_normal((3, WIDTH))
    projections = rng.standard_normal((4, WIDTH, WIDTH)) / np.sqrt(WIDTH)

    def attention(x: np.ndarray) -> np.ndarray:
        query, key, value = (split_heads(x @ projection, HEADS) for projection in projections[:3])
        return merge_heads(parts.attend(query, key, value)[0]) @ projections[3]

    page.say(say.ORDER_SHUFFLE)
    straight, shuffled = attention(tokens), attention(tokens[ORDER])
    page.show("0 1 2", straight)
    page.show("2 0 1", shuffled)
    apart = gap(shuffled, straight[ORDER])
    page.require(apart <= ROUNDING, say.EQUIVARIANT_LAW, expected=f"≤ {ROUNDING}", found=apart)
    moved = gap(shuffled, straight)
    page.require(moved > DIFFERENT, say.NOT_INVARIANT_LAW, expected=f"> {DIFFERENT}", found=moved)

    page.say(say.ORDER_POSITIONS)
    places = parts.positions(3, WIDTH)
    page.show("PE", places)
    straight, shuffled = attention(tokens + places), attention(tokens[ORDER] + places)
    page.show("0 1 2", straight)
    page.show("2 0 1", shuffled)
    told = gap(shuffled, straight[ORDER])
    page.require(told > DIFFERENT, say.POSITIONS_LAW, expected=f"> {DIFFERENT}", found=told)
    show_rotation(page, parts)
    page.record(gap_without_positions=apart, gap_with_positions=told)
    show_causal_decoder(page)


def show_rotation(page: Page, parts: Parts) -> None:
    """(sin, cos) of angle a + b is (sin, cos) of a turned by b, pair by pair."""
    places = parts.positions(40, WIDTH)
    angle = 3.0 * 10000.0 ** (-np.arange(0, WIDTH, 2) / WIDTH)
    sines, cosines = places[:-3, 0::2], places[:-3, 1::2]
    turned = np.empty((37, WIDTH))
    turned[:, 0::2] = sines * np.cos(angle) + cosines * np.sin(angle)
    turned[:, 1::2] = cosines * np.cos(angle) - sines * np.sin(angle)
    apart = gap(turned, places[3:])
    page.require(apart <= ROUNDING, say.ROTATION_LAW, expected=f"≤ {ROUNDING}", found=apart)


def show_causal_decoder(page: Page) -> None:
    """One layer reads a set of tokens; the next reads what those tokens have made of their own, different pasts."""
    page.say(say.ORDER_CAUSAL)
    gaps = [order_gap(layers) for layers in (1, 2)]
    for layers, apart in enumerate(gaps, start=1):
        page.say(say.ORDER_CAUSAL_ROW, layers=layers, gap=apart)
    page.require(gaps[0] <= ROUNDING, say.ONE_LAYER_LAW, expected=f"≤ {ROUNDING}", found=gaps[0])
    page.require(gaps[1] > DIFFERENT, say.TWO_LAYERS_LAW, expected=f"> {DIFFERENT}", found=gaps[1])
    page.record(causal_gap_1_layer=gaps[0], causal_gap_2_layers=gaps[1])


def order_gap(layers: int) -> float:
    """How far the last state moves when the two tokens before it trade places, in a decoder without positions."""
    block = Block(
        attention=Attention(HEADS, HEADS, WIDTH // HEADS, WIDTH // HEADS, visibility=Causal(), position=None),
        feedforward=Dense(4 * WIDTH),
        attention_norm=LayerNorm(),
        feedforward_norm=LayerNorm(),
    )
    spec = DecoderOnly(Stack(WIDTH, Tokens(3), (block,) * layers), Hidden(), context=3)
    states = run(spec, draw(spec, np.random.default_rng(layers)), np.array([[0, 1, 2], [1, 0, 2]]))
    return gap(states[0, -1], states[1, -1])


def gap(found: np.ndarray, other: np.ndarray) -> float:
    """The largest difference."""
    return float(np.abs(found - other).max())
