"""Demonstration 6: an encoder layer keeps the shape, so layers can be stacked."""

from __future__ import annotations

import math

import numpy as np

from clearformer.lab.demos.page import Page
from clearformer.lab.demos.parts import Parts
from clearformer.messages import lab_model as say
from clearformer.reference.attention import merge_heads, split_heads
from clearformer.reference.initial import draw
from clearformer.reference.model import run
from clearformer.reference.norm import layer_norm
from clearformer.spec import Attention, Block, Dense, EncoderOnly, Full, Hidden, LayerNorm, Stack, Tokens, split_width
from clearformer.taps import record

NAME = say.LAYERS

LENGTH, WIDTH, HEADS, HIDDEN, LAYERS = 6, 32, 4, 128, 3
INPUT_DEVIATION = 0.1
TOLERANCE = 5.0  # standard errors


def demonstrate(page: Page, parts: Parts) -> None:
    """The library's stack, read layer by layer, beside the same layers written out from their parts."""
    rng = np.random.default_rng(6)
    spec = encoder()
    weights = draw(spec, rng, scale=1.0)
    x = rng.normal(0.0, INPUT_DEVIATION, (LENGTH, WIDTH))
    weights["encoder.embed.token.weight"] = x
    page.say(say.LAYERS_INPUT)
    check_input(page, x)

    seen, tap = record("encoder.blocks.*.output")
    run(spec, weights, np.arange(LENGTH)[None], tap=tap)
    page.say(say.LAYERS_STEPS)
    for layer in range(LAYERS):
        name = f"encoder.blocks.{layer}"
        own = {key.removeprefix(f"{name}."): value for key, value in weights.items() if key.startswith(f"{name}.")}
        x, library = written_out(page, parts, own, x, aloud=layer == 0), seen[f"{name}.output"][0]
        same = np.allclose(x, library, atol=1e-10)
        page.require(same, say.SAME_LAYER_LAW, expected=library, found=x, layer=layer)
        mean, deviation = float(x.mean()), float(x.std())
        page.say(say.LAYERS_ROW, layer=layer, shape=list(x.shape), mean=mean, deviation=deviation)
        page.record(**{f"mean_{layer}": mean, f"std_{layer}": deviation})
    page.require(x.shape == (LENGTH, WIDTH), say.SHAPE_KEPT_LAW, expected=(LENGTH, WIDTH), found=x.shape)
    page.require(np.isfinite(x).all(), say.FINITE_LAW, expected=0, found=int((~np.isfinite(x)).sum()))
    page.record(shape=np.array(x.shape))


def encoder() -> EncoderOnly:
    """Three pre-norm layers over six tokens that are given as the rows of a table."""
    width = split_width(WIDTH, HEADS)
    block = Block(
        attention=Attention(HEADS, HEADS, width, width, visibility=Full()),
        feedforward=Dense(HIDDEN, "relu"),
        attention_norm=LayerNorm(),
        feedforward_norm=LayerNorm(),
    )
    return EncoderOnly(Stack(WIDTH, Tokens(LENGTH), (block,) * LAYERS), Hidden(), context=LENGTH)


def check_input(page: Page, x: np.ndarray) -> None:
    """σ/√N for the mean of N normal numbers, σ/√(2N) for their deviation."""
    mean_off = abs(float(x.mean())) / (INPUT_DEVIATION / math.sqrt(x.size))
    deviation_off = abs(float(x.std()) - INPUT_DEVIATION) / (INPUT_DEVIATION / math.sqrt(2 * x.size))
    worst = max(mean_off, deviation_off)
    page.require(worst <= TOLERANCE, say.LAYERS_DRAW_LAW, expected=f"≤ {TOLERANCE}", found=worst)
    normed = layer_norm(x, eps=1e-5)
    # eps takes its share of the variance: v / (v + eps).
    variance = x.var(axis=-1) / (x.var(axis=-1) + 1e-5)
    held = np.allclose(normed.mean(axis=-1), 0.0, atol=1e-12) and np.allclose(normed.var(axis=-1), variance)
    page.require(held, say.NORM_LAW, expected=variance, found=normed.var(axis=-1))


def written_out(page: Page, parts: Parts, weights: dict[str, np.ndarray], x: np.ndarray, aloud: bool) -> np.ndarray:
    """x + attention(norm(x)), then x + feedforward(norm(x)), step by step (arXiv 1706.03762 §3, norms first)."""

    def step(name: str, value: np.ndarray) -> np.ndarray:
        if aloud:
            page.show(name, value, (0, slice(4)))
        return value

    def normed(name: str, x: np.ndarray) -> np.ndarray:
        return step(name, layer_norm(x) * weights[f"{name}.weight"] + weights[f"{name}.bias"])

    y = normed("attention_norm", x)
    query, key, value = (
        split_heads(y @ weights[f"attention.{role}.weight"].T, HEADS) for role in ("query", "key", "value")
    )
    heads = merge_heads(parts.attend(query, key, value)[0])
    x = step("x + attention", x + heads @ weights["attention.output.weight"].T)
    y = normed("feedforward_norm", x)
    hidden = np.maximum(y @ weights["feedforward.up.weight"].T + weights["feedforward.up.bias"], 0.0)
    down = hidden @ weights["feedforward.down.weight"].T + weights["feedforward.down.bias"]
    return step("x + feedforward", x + down)
