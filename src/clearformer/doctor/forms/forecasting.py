"""How a forecasting pipeline is asked: a series and a cutoff go in, numbers come out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import torch
from torch import Tensor

from clearformer.doctor.examination import Examination
from clearformer.doctor.forms.arguments import called
from clearformer.doctor.forms.trial import UnfitError, first_that_works

Ask = Callable[[Tensor], Tensor]
"""A series (T C) → the forecast, flat."""


def forecast_form(examination: Examination, trial: Tensor, cutoff: int) -> Ask:
    """Raises NotApplicable where no form forecasts."""
    return first_that_works("forecast", _forms(examination, trial, cutoff))


def _forms(examination: Examination, trial: Tensor, cutoff: int) -> Iterator[tuple[str, Callable[[], Ask]]]:
    parts = examination.parts
    assert parts.forecast is not None
    kinds: dict[str, Callable[[Tensor], Any]] = {
        "tensor": lambda series: series.clone(),
        "array": lambda series: series.double().numpy().copy(),
        "list": lambda series: series.tolist(),
    }
    shapes: dict[str, Callable[[Tensor], Tensor]] = {
        "[T, C]": lambda series: series, "[T]": lambda series: series[:, 0], "[1, T, C]": lambda series: series[None],
    }  # fmt: skip
    for shape, kind in product(shapes, kinds):

        def form(shape: str = shape, kind: str = kind) -> Ask:
            def ask(series: Tensor) -> Tensor:
                given = {"series": kinds[kind](shapes[shape](series)), "cutoff": cutoff}
                spare = {"model": parts.model, "horizon": 6, "device": "cpu"}
                with torch.no_grad():
                    return _numbers(called(parts.forecast, given, spare=spare, order=("series", "cutoff")))  # type: ignore[arg-type]

            ask(trial)
            return ask

        yield f"forecast({kind} {shape}, cutoff)", form


def _numbers(answer: Any) -> Tensor:
    if isinstance(answer, dict):
        answer = next(iter(answer.values()))
    if isinstance(answer, tuple) and answer:
        answer = answer[0]
    answer = getattr(answer, "values", answer) if not isinstance(answer, Tensor) else answer
    found = torch.as_tensor(answer).detach().double().flatten()
    if not found.numel() or not found.isfinite().all():
        raise UnfitError("no finite forecast")
    return found
