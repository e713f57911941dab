"""Demonstration 3: the spread of a dot product grows as √d_k, and the softmax feels it."""

from __future__ import annotations

import math

import numpy as np

from clearformer.lab.demos.page import Page
from clearformer.lab.demos.parts import Parts
from clearformer.messages import lab as say
from clearformer.taps import record

NAME = say.SCALE

PAIRS, BATCH = 20000, 2000
WIDTHS = (4, 64, 512)
TOLERANCE = 5.0  # Standard errors: a sound run strays further about once in two million.


def demonstrate(page: Page, parts: Parts) -> None:
    """Measured against derived: Var(q·k) = d_k for independent components of variance 1."""
    rng = np.random.default_rng(3)
    page.say(say.SCALE_PAIRS, pairs=PAIRS)
    page.say(say.SCALE_TABLE, pairs=PAIRS)
    page.lines.append(f"{'d_k':>4}  {'q·k':>8}{'':8}  {'√d_k':>8}   {page.word(say.SCORE):>7}")
    for width in WIDTHS:
        raw, scores = dot_products(parts, rng, width)
        deviation, error = spread(raw)
        scaled, scaled_error = spread(scores)
        root = math.sqrt(width)
        row = f"{width:4}  {deviation:8.3f} ± {error:.3f}  {root:8.3f}   {scaled:7.3f} ± {scaled_error:.3f}"
        page.lines.append(row)
        near = abs(deviation - root) <= TOLERANCE * error
        page.require(near, say.RAW_LAW, expected=root, found=deviation, width=width)
        near = abs(scaled - 1.0) <= TOLERANCE * scaled_error
        page.require(near, say.SCALED_LAW, expected=1.0, found=scaled, width=width)
        page.record(**{f"std_{width}": deviation, f"std_{width}_error": error, f"scaled_std_{width}": scaled})
    show_saturation(page, parts, rng)


def dot_products(parts: Parts, rng: np.random.Generator, width: int) -> tuple[np.ndarray, np.ndarray]:
    """q·k of each pair, and the score that attention makes of it; in batches, to stay small."""
    raw, scores = [], []
    for _ in range(PAIRS // BATCH):
        query, key = rng.standard_normal((2, BATCH, 1, width))
        seen, tap = record("scores")
        parts.attend(query, key, key, tap=tap)
        raw.append((query * key).sum(axis=-1))
        scores.append(seen["scores"])
    return np.ravel(raw), np.ravel(scores)


def spread(sample: np.ndarray) -> tuple[float, float]:
    """Standard deviation s and its standard error s · √((κ − 1) / 4N), κ the sample's own kurtosis."""
    centred = sample - sample.mean()
    variance = float((centred**2).mean())
    kurtosis = float((centred**4).mean()) / variance**2
    return math.sqrt(variance), math.sqrt(variance * (kurtosis - 1.0) / (4 * len(sample)))


def show_saturation(page: Page, parts: Parts, rng: np.random.Generator) -> None:
    """d p / d score = p (1 − p): a weight near 1 teaches its score nothing."""
    page.say(say.SCALE_SATURATION)
    width, queries = WIDTHS[-1], 1000
    query, key = rng.standard_normal((queries, 1, width)), rng.standard_normal((queries, 16, width))
    means, errors = [], []
    for which, factor in ((say.WITH_SCALE, 1.0), (say.WITHOUT_SCALE, math.sqrt(width))):
        largest = parts.attend(query * factor, key, key)[1].max(axis=-1)
        gradient = largest * (1.0 - largest)
        means.append(float(gradient.mean()))
        errors.append(float(gradient.std() / math.sqrt(queries)))
        peak = float(largest.mean())
        page.say(say.SCALE_SATURATION_ROW, which=which, largest=peak, gradient=means[-1], error=errors[-1])
    gap = means[0] - means[1]
    clear = gap > TOLERANCE * math.hypot(*errors)
    page.require(clear, say.SATURATION_LAW, expected=f"> {TOLERANCE * math.hypot(*errors):.4f}", found=gap)
    page.record(gradient_scaled=means[0], gradient_unscaled=means[1])
