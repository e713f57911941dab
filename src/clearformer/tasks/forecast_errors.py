"""How far forecasts lie from the truth: sums over windows, so that no batch size shows in a mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

_BARS = "▁▂▃▄▅▆▇█"
_WIDEST = 60


@dataclass(frozen=True)
class Errors:
    """Σ error², Σ |error|, and over how many numbers."""

    squared: float = 0.0
    absolute: float = 0.0
    count: int = 0

    @classmethod
    def between(cls, forecast: Float[np.ndarray, "*any"], truth: Float[np.ndarray, "*any"]) -> Errors:
        error = forecast - truth
        return cls(float(np.square(error).sum()), float(np.abs(error).sum()), error.size)

    def plus(self, other: Errors) -> Errors:
        return Errors(self.squared + other.squared, self.absolute + other.absolute, self.count + other.count)

    @property
    def mse(self) -> float:
        return self.squared / self.count

    @property
    def mae(self) -> float:
        return self.absolute / self.count


def sparkline(values: Float[np.ndarray, " steps"], low: float, high: float) -> str:
    """The values as one line of bars between low and high; a long series is drawn by its last steps."""
    span = high - low or 1.0
    shown = np.nan_to_num((values[-_WIDEST:] - low) / span).clip(0, 1)
    return "".join(_BARS[round(float(share) * (len(_BARS) - 1))] for share in shown)
