"""What a forecast must beat: the last value, the last season, and a line fitted by least squares.

A Transformer that does not beat these has learnt nothing of use (Zeng et al. 2022, arXiv 2205.13504).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.lib.stride_tricks import sliding_window_view

# Windows that a line is fitted to; more would change its figures in the fourth digit and take minutes.
_FITTED = 60_000
_SEASON_ROWS = 20_000


def persistence(history: Float[np.ndarray, "B S C"], horizon: int) -> Float[np.ndarray, "B horizon C"]:
    """The last value, for ever."""
    return np.repeat(history[:, -1:], horizon, axis=1)


def seasonal_naive(history: Float[np.ndarray, "B S C"], horizon: int, season: int) -> Float[np.ndarray, "B horizon C"]:
    """The last `season` steps, again and again."""
    return history[:, -season:][:, np.arange(horizon) % season]


def best_season(training: Float[np.ndarray, "rows C"], longest: int, horizon: int) -> int:
    """The season, from 1 to `longest`, whose naive forecast errs least on the training rows over the horizon.

    Step k of a forecast repeats the value ⌈k / season⌉ seasons before it, so that a short season soon is far behind.
    """
    rows = training[-_SEASON_ROWS:]
    furthest = min(longest + horizon, len(rows) - 1)
    apart = np.array([np.mean((rows[lag:] - rows[: len(rows) - lag]) ** 2) for lag in range(furthest + 1)])
    steps = np.arange(1, horizon + 1)
    errors = []
    for season in range(1, min(longest, furthest) + 1):
        behind = season * -(-steps // season)
        errors.append(apart[behind[behind <= furthest]].mean() if (behind <= furthest).any() else np.inf)
    return 1 + int(np.argmin(errors))


@dataclass(frozen=True)
class Line:
    """One matrix for all channels, on the history less its last value (NLinear, arXiv 2205.13504 §4)."""

    weight: Float[np.ndarray, "S+1 horizon"]

    @classmethod
    def fitted(cls, training: Float[np.ndarray, "rows C"], lookback: int, horizon: int) -> Line:
        """Least squares over the windows of the training rows, evenly thinned where they are very many.

        Solved by the normal equations in float64; directions that the data hardly have are left at zero.
        """
        count, channels = len(training) - lookback - horizon + 1, training.shape[1]
        chosen = np.linspace(0, count - 1, min(count, max(1, _FITTED // channels))).astype(int)
        square, target = np.zeros((lookback + 1, lookback + 1)), np.zeros((lookback + 1, horizon))
        for column in training.T:
            cut = sliding_window_view(column, lookback + horizon)[chosen]
            inputs = _inputs(cut[:, :lookback])
            square += inputs.T @ inputs
            target += inputs.T @ (cut[:, lookback:] - cut[:, lookback - 1 : lookback])
        return cls(np.linalg.lstsq(square, target, rcond=1e-11)[0])

    def forecast(self, history: Float[np.ndarray, "B S C"]) -> Float[np.ndarray, "B horizon C"]:
        """The steps that follow each history."""
        change = _inputs(history.transpose(0, 2, 1)) @ self.weight
        return change.transpose(0, 2, 1) + history[:, -1:]


def _inputs(history: Float[np.ndarray, "*any S"]) -> Float[np.ndarray, "*any S+1"]:
    """The history less its last value, and a 1 for the intercept."""
    return np.concatenate((history - history[..., -1:], np.ones_like(history[..., :1])), -1)
