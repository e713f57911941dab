"""The mean over seeds and its interval, by Student's t ("Student" 1908): few seeds know their spread badly."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

LEVEL = 0.95
"""The share of such intervals that hold the true mean, where the seeds' figures are normally distributed."""
_HALVINGS = 200


@dataclass(frozen=True)
class Interval:
    """`low` and `high` are None where one seed alone says nothing of the spread."""

    mean: float
    low: float | None
    high: float | None
    seeds: int

    @classmethod
    def of(cls, values: Sequence[float], level: float = LEVEL) -> Interval:
        """mean ± t · s / √n; n ≥ 1."""
        mean, n = statistics.fmean(values), len(values)
        if n < 2:
            return cls(mean, None, None, n)
        half = quantile(n - 1, level) * statistics.stdev(values) / math.sqrt(n)
        return cls(mean, mean - half, mean + half, n)

    def apart(self, other: Interval) -> bool:
        """Whether the two do not overlap; intervals that are not known are never apart."""
        if self.low is None or self.high is None or other.low is None or other.high is None:
            return False
        return self.high < other.low or other.high < self.low


def quantile(freedom: int, level: float) -> float:
    """t with P(|T| ≤ t) = level, for T of Student's distribution with so many degrees of freedom."""
    low, high = 0.0, 1.0
    while _within(high, freedom) < level:
        high *= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < level else (low, middle)
    return (low + high) / 2


def _within(t: float, freedom: int) -> float:
    """P(|T| ≤ t), by the finite sums of Abramowitz and Stegun 26.7.3 and 26.7.4 in θ = arctan(t / √ν)."""
    angle = math.atan2(t, math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term, total = (cosine, cosine) if odd else (1.0, 1.0)
    for k in range(3 if odd else 2, freedom - 1, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    if not odd:
        return sine * total
    return 2 / math.pi * (angle + (sine * total if freedom > 1 else 0.0))
