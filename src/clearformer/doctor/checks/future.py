"""K36: a forecast does not change with what lies behind its cutoff."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.doctor.forms.arguments import source_of
from clearformer.doctor.forms.forecasting import Ask, forecast_form
from clearformer.messages import doctor_data as say

LENGTH, CUTOFF, CHANNELS = 160, 120, 2
_NEAR = 1e-4
"""Of the forecast's own size: what rounding may move it."""


def _probe(examination: Examination) -> Iterator[Breach]:
    forecast = examination.parts.forecast
    assert forecast is not None
    series = _series(examination.generator())
    ask = forecast_form(examination, series, CUTOFF)
    before = ask(series)
    if _moved(before, ask(series)) > _NEAR:
        raise NotApplicable(say.FORECAST_DRAWS)
    other = series.clone()
    other[CUTOFF:] = 5.0 + 3.0 * torch.randn(other[CUTOFF:].shape, generator=examination.generator())
    size = _moved(before, ask(other))
    if size <= _NEAR:
        return
    cause, reach = _cause(ask, series, before)
    columns = [c for c in range(CHANNELS) if _moved(before, ask(_in_column(series, other, c))) > _NEAR]
    values = {"cutoff": CUTOFF, "size": size, "columns": columns, "reach": reach}
    rivals = [name for name in _ALL if name != cause]
    signs = {"reach": reach, "columns": columns}
    yield Breach("K36", "ERROR", (Said(say.SEES_FUTURE, values),), (cause, *rivals), source_of(forecast), signs)


_ALL = (
    "scaler fitted on the future", "cutoff off by one", "window reaches past the cutoff", "future target in the inputs",
)  # fmt: skip


def _cause(ask: Ask, series: Tensor, before: Tensor) -> tuple[str, int]:
    """Told apart by where a change is felt; a statistic feels all of them, and no other order of the same values."""
    turned = series.clone()
    turned[CUTOFF:] = series[CUTOFF:].flip(0)
    swapped = _moved(before, ask(turned))
    felt = [at for at in range(LENGTH - CUTOFF) if _moved(before, ask(_at(series, CUTOFF + at))) > _NEAR / 100]
    reach = max(felt, default=-1) + 1
    if swapped <= _NEAR and len(felt) >= 0.9 * (LENGTH - CUTOFF):
        return "scaler fitted on the future", reach
    if felt == [0]:
        return "cutoff off by one", reach
    horizon = 0 if before.numel() % CHANNELS else before.numel() // CHANNELS
    if reach and reach < min(LENGTH - CUTOFF, horizon or math.inf) and felt == list(range(reach)):
        return "window reaches past the cutoff", reach
    return "future target in the inputs", reach


def _at(series: Tensor, at: int) -> Tensor:
    """One later value changed, to a size that no statistic of the whole overlooks."""
    changed = series.clone()
    changed[at] += 50.0
    return changed


def _in_column(series: Tensor, other: Tensor, column: int) -> Tensor:
    changed = series.clone()
    changed[CUTOFF:, column] = other[CUTOFF:, column]
    return changed


def _moved(one: Tensor, other: Tensor) -> float:
    if one.shape != other.shape:
        return math.inf
    return float((one - other).abs().max() / one.abs().max().clamp(min=1e-6))


def _series(generator: torch.Generator) -> Tensor:
    """Two channels with a season and noise, positive (T C)."""
    at = torch.arange(LENGTH)[:, None]
    season = torch.sin(at * 2 * math.pi / torch.tensor([[12.0, 7.0]]))
    return 10.0 + 2.0 * season + 0.3 * torch.randn(LENGTH, CHANNELS, generator=generator)


FUTURE = Check("K36", "future-data probe", say.FUTURE, say.FUTURE_RISK, _probe, needs=("forecast",))
