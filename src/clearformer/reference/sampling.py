"""From logits to one token a row: the filters of sampling, then the draw."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from clearformer.errors import GenerationError
from clearformer.messages import reference as messages
from clearformer.reference.attention import softmax


@dataclass(frozen=True)
class Sampling:
    """Temperature 0 takes the likeliest token; `top_k` keeps the k likeliest, `top_p` the fewest that hold p."""

    temperature: float = 0.0
    top_k: int | None = None
    top_p: float | None = None

    def __post_init__(self) -> None:
        _demand("temperature", self.temperature, 0 <= self.temperature < math.inf, "0", "∞")
        _demand("top_k", self.top_k, self.top_k is None or self.top_k >= 1, "1", "∞")
        _demand("top_p", self.top_p, self.top_p is None or 0 < self.top_p <= 1, "0 (excluded)", "1")


def choose_token(
    logits: Float[np.ndarray, "B V"], sampling: Sampling, rng: np.random.Generator | None = None
) -> Int[np.ndarray, " B"]:
    """One token a row; `rng` draws it where the temperature is above 0."""
    if sampling.temperature == 0:
        return logits.argmax(axis=-1)
    if rng is None:
        raise GenerationError(messages.NO_GENERATOR, found=sampling.temperature)
    probability = distribution(logits, sampling)
    return np.array([rng.choice(row.size, p=row) for row in probability])


def distribution(logits: Float[np.ndarray, "... V"], sampling: Sampling) -> Float[np.ndarray, "... V"]:
    """The distribution that is drawn from, at a temperature above 0: divided, cut to k, cut to p, and made whole."""
    logits = logits / sampling.temperature
    if sampling.top_k is not None:
        logits = keep_top_k(logits, sampling.top_k)
    if sampling.top_p is not None:
        logits = keep_top_p(logits, sampling.top_p)
    return softmax(logits)


def keep_top_k(logits: Float[np.ndarray, "... V"], k: int) -> Float[np.ndarray, "... V"]:
    """−∞ below the k-th highest logit (Fan et al. 2018, arXiv 1805.04833)."""
    k = min(k, logits.shape[-1])
    least = np.sort(logits, axis=-1)[..., -k, None]
    return np.where(logits >= least, logits, -np.inf)


def keep_top_p(logits: Float[np.ndarray, "... V"], p: float) -> Float[np.ndarray, "... V"]:
    """−∞ outside the nucleus: a token stays while the likelier ones hold less than p (Holtzman et al. 2019,
    arXiv 1904.09751)."""
    order = np.argsort(-logits, axis=-1, kind="stable")
    sorted_probability = np.take_along_axis(softmax(logits), order, axis=-1)
    before = np.cumsum(sorted_probability, axis=-1) - sorted_probability
    kept = np.empty(logits.shape, dtype=bool)
    np.put_along_axis(kept, order, before < p, axis=-1)
    return np.where(kept, logits, -np.inf)


def _demand(what: str, found: object, held: bool, low: str, high: str) -> None:
    if not held:
        raise GenerationError(messages.NUMBER_OUT_OF_RANGE, what=what, low=low, high=high, found=repr(found))
