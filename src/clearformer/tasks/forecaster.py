"""A trained forecaster at work: from a table to the numbers that follow it, in the table's own units."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from clearformer.data import calendar
from clearformer.data.table import Table
from clearformer.errors import DataError
from clearformer.messages import tasks_forecasting as say
from clearformer.model import EncoderOnly
from clearformer.tasks.series_data import Reading


@dataclass(frozen=True)
class Forecast:
    """`values` has a row a step and a column a forecast column; dates only where the history has them."""

    columns: tuple[str, ...]
    values: Float[np.ndarray, "steps C"]
    dates: tuple[datetime, ...] | None = None


@torch.no_grad()
def forecast(model: EncoderOnly, reading: Reading, history: Table, steps: int | None = None) -> Forecast:
    """The next `steps` rows (None: as many as the model forecasts at once), in the data's own units.

    Longer forecasts read their own beginning. Raises DataError for a history without the model's columns, too short,
    or at another step in time.
    """
    steps = steps or reading.horizon
    window, dates = _require_history(reading, history), None
    inputs = torch.from_numpy(reading.inputs(window)).to(next(model.parameters()))
    known = None
    if window.dates is not None and window.step is not None:
        dates = tuple(window.step.after(window.dates[-1], count) for count in range(1, steps + 1))
        if reading.features:
            known = torch.from_numpy(calendar.features(dates, window.step)).to(inputs)[None]
    standard = roll(model, inputs[None], steps, known)[0, :, : len(reading.columns)]
    values = reading.scaler.restored(standard.double().cpu().numpy())[:, reading.forecast_channels]
    return Forecast(reading.targets, values, dates)


def roll(
    model: EncoderOnly,
    history: Float[Tensor, "B S C"],
    steps: int,
    known: Float[Tensor, "B steps F"] | None = None,
) -> Float[Tensor, "B steps C"]:
    """Forecast after forecast, each read as history by the next. `known` are the last channels of the steps ahead, such
    as the calendar's, which need no forecast."""
    parts: list[Tensor] = []
    done = 0
    while done < steps:
        part = model(history)[:, : steps - done]
        if known is not None:
            part = torch.cat((part[..., : -known.shape[2]], known[:, done : done + part.shape[1]].to(part)), 2)
        parts.append(part)
        done += part.shape[1]
        history = torch.cat((history, part), 1)[:, -history.shape[1] :]
    return torch.cat(parts, 1)


def _require_history(reading: Reading, history: Table) -> Table:
    """The rows that the forecast reads."""
    if not set(reading.columns) <= set(history.columns):
        found = ", ".join(history.columns)
        raise DataError(say.OTHER_COLUMNS, expected=", ".join(reading.columns), found=found)
    if len(history.values) < reading.lookback:
        raise DataError(say.SHORT_HISTORY, expected=reading.lookback, found=len(history.values))
    if reading.step is not None and history.step is not None and history.step != reading.step:
        raise DataError(say.OTHER_STEP, expected=reading.step, found=history.step)
    if reading.features and history.dates is None:
        raise DataError(say.NO_DATES)
    return history.last(reading.lookback)
