"""Standard units: each column's mean and deviation over the training rows, and over no others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class Scaler:
    """(value − mean) / deviation, column by column. A column that never moves has deviation 1."""

    mean: tuple[float, ...]
    deviation: tuple[float, ...]

    @classmethod
    def fitted(cls, training: Float[np.ndarray, "rows C"]) -> Scaler:
        """From the training rows alone: later ones would tell the model of its future.
        Of numbers whose squares are past every float, the deviation is infinite."""
        with np.errstate(over="ignore", invalid="ignore"):
            mean, deviation = training.mean(0), training.std(0)
        # A constant column's deviation is rounding error, which must not be divided by.
        still = deviation <= 1e-12 * np.maximum(1.0, np.abs(mean))
        return cls(tuple(mean.tolist()), tuple(np.where(still, 1.0, deviation).tolist()))

    def standard(self, values: Float[np.ndarray, "*any C"]) -> Float[np.ndarray, "*any C"]:
        """In standard units."""
        return (values - np.array(self.mean)) / np.array(self.deviation)

    def restored(self, values: Float[np.ndarray, "*any C"]) -> Float[np.ndarray, "*any C"]:
        """In the data's own units."""
        return values * np.array(self.deviation) + np.array(self.mean)

    def facts(self) -> dict[str, list[float]]:
        """As JSON, every bit kept."""
        return {"mean": list(self.mean), "deviation": list(self.deviation)}

    @classmethod
    def of(cls, facts: Mapping[str, list[float]]) -> Scaler:
        return cls(tuple(map(float, facts["mean"])), tuple(map(float, facts["deviation"])))
