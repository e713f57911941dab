"""K36 on forecasts that have seen what they foretell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from doctor.checks.asking import causes

AHEAD = 6


def last(series: np.ndarray, cutoff: int) -> np.ndarray:
    return np.repeat(series[cutoff - 1 : cutoff], AHEAD, 0)


def standard(series: Tensor, cutoff: int) -> Tensor:
    past = series[:cutoff]
    return ((past - past.mean(0)) / past.std(0))[-AHEAD:]


def of_one_channel(values: list[float], split: int) -> list[float]:
    return [sum(values[:split]) / split] * AHEAD


def standard_of_all(series: Tensor, cutoff: int) -> Tensor:
    return ((series - series.mean(0)) / series.std(0))[cutoff - AHEAD : cutoff]


def between_extremes_of_all(series: Tensor, cutoff: int) -> Tensor:
    low, high = series.amin(0), series.amax(0)
    return ((series - low) / (high - low))[cutoff - AHEAD : cutoff]


def one_too_far(series: Tensor, cutoff: int) -> Tensor:
    return series[cutoff - AHEAD + 1 : cutoff + 1] * 0.9


def centred(series: Tensor, cutoff: int) -> Tensor:
    return series.unfold(0, 7, 1).mean(-1)[cutoff - 3 - AHEAD : cutoff - 3]


def copied(series: Tensor, cutoff: int) -> Tensor:
    return series[cutoff : cutoff + AHEAD] + 0.1 * series[cutoff - AHEAD : cutoff]


FAULTY: list[tuple[Callable[..., Any], str]] = [
    (standard_of_all, "scaler fitted on the future"), (one_too_far, "cutoff off by one"),
    (centred, "window reaches past the cutoff"), (copied, "future target in the inputs"),
]  # fmt: skip


@pytest.mark.parametrize("forecast", [last, standard, of_one_channel])
def test_it_does_not_fire(forecast: Callable[..., Any]) -> None:
    assert causes("K36", forecast=forecast) == []


@pytest.mark.parametrize(("forecast", "cause"), FAULTY)
def test_it_fires(forecast: Callable[..., Any], cause: str) -> None:
    assert causes("K36", forecast=forecast) == [f"ERROR {cause}"]


def test_the_smallest_and_the_largest_of_the_whole_are_a_scaler_too() -> None:
    assert causes("K36", forecast=between_extremes_of_all) == ["ERROR scaler fitted on the future"]


def test_it_is_not_applicable_to_what_draws_or_does_not_forecast() -> None:
    assert causes("K36") == ["-"]
    assert causes("K36", forecast=lambda series, cutoff: torch.randn(6)) == ["-"]
    assert causes("K36", forecast=lambda series, cutoff: None) == ["-"]
