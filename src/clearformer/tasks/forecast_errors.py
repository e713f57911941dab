"""How far forecasts lie from the truth: sums over windows, so that no batch size shows in a mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


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
