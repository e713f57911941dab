"""The three simple forecasts, against laws and against a plain least-squares solver."""

from __future__ import annotations

import numpy as np

from clearformer.data.baselines import Line, best_season, persistence, seasonal_naive


def test_persistence_and_seasons_by_hand() -> None:
    history = np.array([[[1.0, 10], [2, 20], [3, 30]]])
    np.testing.assert_array_equal(persistence(history, 2), [[[3, 30], [3, 30]]])
    np.testing.assert_array_equal(seasonal_naive(history, 5, 2)[0, :, 0], [2, 3, 2, 3, 2])
    np.testing.assert_array_equal(seasonal_naive(history, 3, 1), persistence(history, 3))


def test_the_season_is_found() -> None:
    """A smooth day of 24 hours with noise: neighbours are alike, but a forecast of a day needs the day before."""
    draw = np.random.default_rng(0)
    day = np.sin(2 * np.pi * np.arange(24 * 60) / 24)[:, None] + 0.2 * draw.normal(size=(24 * 60, 2))
    assert best_season(day, 96, 24) % 24 == 0
    assert best_season(day, 20, 24) <= 20
    assert best_season(draw.normal(size=(500, 1)).cumsum(0), 96, 24) == 1
    assert best_season(day[:3], 96, 24) in (1, 2)
    # A slow drift makes the value before nearer than the day before, but not for a whole day.
    drifting = day + 0.05 * draw.normal(size=day.shape).cumsum(0)
    assert np.mean(np.diff(drifting, axis=0) ** 2) < np.mean((drifting[24:] - drifting[:-24]) ** 2)
    assert best_season(drifting, 40, 24) == 24


def test_a_line_equals_least_squares() -> None:
    draw = np.random.default_rng(1)
    rows = draw.normal(size=(200, 3)).cumsum(0)
    line = Line.fitted(rows, lookback=6, horizon=4)
    inputs, targets = [], []
    for column in rows.T:
        for first in range(200 - 10 + 1):
            past, ahead = column[first : first + 6], column[first + 6 : first + 10]
            inputs.append([*(past - past[-1]), 1.0])
            targets.append(ahead - past[-1])
    expected = np.linalg.lstsq(np.array(inputs), np.array(targets), rcond=None)[0]
    np.testing.assert_allclose(line.weight, expected, atol=1e-9)


def test_a_line_continues_what_lines_can_say() -> None:
    """A sum of sines obeys one recurrence, so a line forecasts it, at any level and for rows it never saw."""
    time = np.arange(300)[:, None]
    rows = np.sin(time * [[0.2, 0.2]]) + np.cos(time * [[0.7, 0.7]] + [[0, 1]])
    line = Line.fitted(rows[:200], lookback=12, horizon=8)
    history, future = rows[None, 250:262] + 5, rows[None, 262:270] + 5
    np.testing.assert_allclose(line.forecast(history), future, atol=1e-4)
    assert np.abs(persistence(history, 8) - future).max() > 0.5
