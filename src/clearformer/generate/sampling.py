"""From logits to one token: a chain of filters, then a draw.

Each filter is a pure function from logits to logits; a dropped token's logit becomes −∞. Their order is that of
Hugging Face: repetition penalty, temperature, top-k, top-p, min-p.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from clearformer.generate.settings import SamplingSettings

Logits = Float[Tensor, "B V"]

# Logits of models stay far below 1e6; divided by this they fit float32.
_LEAST_DIVISOR = 1e-30


def penalise_repetition(logits: Logits, seen: Bool[Tensor, "B V"], penalty: float) -> Logits:
    """Lower what has been said: positive logits divided, negative multiplied (Keskar et al. 2019, arXiv 1909.05858)."""
    return torch.where(seen, torch.where(logits < 0, logits * penalty, logits / penalty), logits)


def scale_by_temperature(logits: Logits, temperature: float) -> Logits:
    """Below 1 the likely grow likelier, above 1 the distribution flattens (Ackley, Hinton, Sejnowski 1985).

    A division that would overflow is made after taking the row's largest logit away, which changes no probability.
    """
    if temperature >= _LEAST_DIVISOR:
        return logits / temperature
    below = logits.double() - logits.double().amax(-1, keepdim=True)
    # 0 by a number too small for its reciprocal is NaN.
    return (below / temperature).masked_fill(below == 0, 0.0)


def keep_top_k(logits: Logits, k: int) -> Logits:
    """The k likeliest tokens, and any that ties with the last of them (Fan et al. 2018, arXiv 1805.04833)."""
    least = logits.topk(min(k, logits.shape[-1])).values[:, -1:]
    return logits.masked_fill(logits < least, -math.inf)


def keep_top_p(logits: Logits, p: float) -> Logits:
    """The fewest likeliest tokens that together hold probability p (Holtzman et al. 2019, arXiv 1904.09751).

    A token goes if it and all less likely ones hold no more than 1 − p; which of several equal ones is not defined.
    """
    ascending, order = logits.sort()
    drop = ascending.softmax(-1).cumsum(-1) <= 1 - p
    drop[:, -1] = False
    return logits.masked_fill(drop.scatter(1, order, drop), -math.inf)


def keep_min_p(logits: Logits, p: float) -> Logits:
    """Tokens at least p times as likely as the likeliest (Nguyen et al. 2024, arXiv 2407.01082)."""
    probabilities = logits.softmax(-1)
    return logits.masked_fill(probabilities < p * probabilities.amax(-1, keepdim=True), -math.inf)


def apply_filters(logits: Logits, settings: SamplingSettings, seen: Bool[Tensor, "B V"] | None) -> Logits:
    """The whole chain; greedy choice needs the penalty alone, as no other filter moves the maximum."""
    if seen is not None:
        logits = penalise_repetition(logits, seen, settings.repetition_penalty)
    if settings.greedy:
        return logits
    if settings.temperature != 1:
        logits = scale_by_temperature(logits, settings.temperature)
    if settings.top_k:
        logits = keep_top_k(logits, settings.top_k)
    if settings.top_p < 1:
        logits = keep_top_p(logits, settings.top_p)
    if settings.min_p:
        logits = keep_min_p(logits, settings.min_p)
    return logits


def draw(logits: Logits, uniforms: Float[Tensor, " B"]) -> Int[Tensor, " B"]:
    """Invert the cumulative distribution at one number in [0, 1) a row; a token of probability 0 is never drawn."""
    cumulated = logits.double().softmax(-1).cumsum(-1)
    points = uniforms.double()[:, None] * cumulated[:, -1:]
    return torch.searchsorted(cumulated, points, right=True)[:, 0]


class Sampler:
    """Chooses each row's next token. Row r has its own generator, so no row's draw depends on another's."""

    def __init__(self, settings: SamplingSettings, generators: Sequence[torch.Generator]) -> None:
        self.settings = settings
        self._generators = list(generators)
        self._seen: Bool[Tensor, "B V"] | None = None

    def watch(self, prompts: Sequence[Sequence[int]], vocabulary: int, device: torch.device) -> None:
        """Note the tokens already there, for the repetition penalty."""
        if self.settings.repetition_penalty == 1:
            return
        self._seen = torch.zeros(len(prompts), vocabulary, dtype=torch.bool, device=device)
        for row, prompt in enumerate(prompts):
            self._seen[row, torch.tensor(prompt, device=device)] = True

    def choose(self, logits: Logits) -> Int[Tensor, " B"]:
        """The next token of each row; −1 where the logits hold NaN or ∞, as nothing can be chosen there."""
        filtered = apply_filters(logits, self.settings, self._seen)
        best, chosen = filtered.max(-1)
        if not self.settings.greedy:
            numbers = [torch.rand((), generator=each, dtype=torch.float64) for each in self._generators]
            chosen = draw(filtered, torch.stack(numbers).to(logits.device))
        if self._seen is not None:
            self._seen.scatter_(1, chosen.clamp(max=logits.shape[-1] - 1)[:, None], True)
        return chosen.where(best.isfinite(), -1)

    def keep(self, rows: Sequence[int], index: Int[Tensor, " rows"]) -> None:
        """Go on with these rows."""
        self._generators = [self._generators[row] for row in rows]
        if self._seen is not None:
            self._seen = self._seen[index]
