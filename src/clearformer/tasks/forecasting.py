"""Forecasting: an encoder over patches of the past says the next steps of a series.

Figures are in standard units over every window of a split, with the same of three simple forecasts beside them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from clearformer.data.baselines import Line, best_season, persistence, seasonal_naive
from clearformer.data.series import SeriesBatch, Windows, forecast_starts, windows
from clearformer.errors import UsageError
from clearformer.loss import Loss
from clearformer.messages import tasks_forecasting as say
from clearformer.model import EncoderOnly, Model
from clearformer.spec import EncoderOnly as EncoderSpec
from clearformer.spec.presets import patch_forecaster
from clearformer.tasks.forecast_errors import Errors
from clearformer.tasks.forecaster import roll
from clearformer.tasks.ranges import require_counts
from clearformer.tasks.series_data import FACTS, SeriesData, SplitSeries
from clearformer.tasks.sparkline import sparkline
from clearformer.train.recipe import AdamW, Cosine, Optimizer, Recipe, Schedule
from clearformer.train.task import Metric, Progress, Published, Sample, Split


@dataclass(frozen=True)
class PatchForecaster:
    """PatchTST's design (Nie et al. 2023, arXiv 2211.14730)."""

    width: int = 64
    heads: int = 4
    layers: int = 3
    hidden: int = 128
    patch: int = 16
    """Steps that make one position."""
    stride: int = 8
    """Steps from one patch to the next."""
    independent: bool = True
    """Each channel is read alone, through the same weights; otherwise a patch holds all channels."""
    normalise: bool = True
    """Each window's own level is removed, and restored on the forecast."""
    dropout: float = 0.0
    head_dropout: float = 0.0

    def __post_init__(self) -> None:
        require_counts(self, "width", "heads", "hidden", "layers", "patch", "stride")


@dataclass(frozen=True, kw_only=True)
class ForecastingRecipe(Recipe):
    """Train a model that forecasts series of numbers."""

    data: SeriesData = field(default_factory=SeriesData)
    model: PatchForecaster = field(default_factory=PatchForecaster)
    optimizer: Optimizer = field(default_factory=lambda: AdamW(lr=1e-3, weight_decay=0.01))
    schedule: Schedule = field(default_factory=lambda: Cosine(warmup=50, floor=0.0))


@dataclass(frozen=True)
class ForecastingTask:
    """The mean squared error of the forecast columns, in standard units."""

    recipe: ForecastingRecipe
    series: SplitSeries
    spec: EncoderSpec
    name: str = "forecasting"
    unit: Literal["token", "example"] = "example"
    metric: Metric = field(default_factory=lambda: Metric("mse"))

    @classmethod
    def open(cls, recipe: ForecastingRecipe, folder: Path) -> ForecastingTask:
        """Reads the series. Raises DataError, UsageError for settings that contradict each other, SpecError."""
        data, model = recipe.data, recipe.model
        if model.independent and (data.others or data.calendar):
            raise UsageError(say.OTHERS_NEED_MIXING)
        if model.patch > data.lookback:
            raise UsageError(say.PATCH_PAST_LOOKBACK, patch=model.patch, lookback=data.lookback)
        series = SplitSeries.open(data, folder)
        spec = patch_forecaster(
            channels=series.values.shape[1],
            lookback=data.lookback,
            horizon=data.horizon,
            patch=model.patch,
            stride=model.stride,
            width=model.width,
            heads=model.heads,
            hidden=model.hidden,
            layers=model.layers,
            dropout=model.dropout,
            head_dropout=model.head_dropout,
            independent=model.independent,
            normalise=model.normalise,
        )
        task = cls(recipe, series, spec)
        for split in ("training", "validation", "test"):
            for horizon in (data.horizon, *data.horizons):
                task.starts(split, horizon)
        return task

    def training(self) -> Windows:
        data, starts = self.recipe.data, self.starts("training", self.recipe.data.horizon)
        return Windows(self.series.values, starts, data.lookback, data.horizon, data.batch, self.recipe.seed)

    def sizes(self) -> dict[str, int]:
        splits = ("training", "validation", "test")
        return {f"{split} windows": len(self.starts(split, self.recipe.data.horizon)) for split in splits}

    def starts(self, split: str, horizon: int) -> range:
        """The first forecast row of every window of a split."""
        span, name = self.series.span(split)
        return forecast_starts(span, self.recipe.data.lookback, horizon, name)

    def units(self, batch: SeriesBatch) -> int:
        return len(batch.history)

    def loss(self, model: Model, batch: SeriesBatch) -> Loss:
        assert isinstance(model, EncoderOnly)
        error = (model(batch.history).float() - batch.future)[..., self.series.reading.forecast_channels]
        return Loss(error.square().mean((1, 2)).sum(), len(error))

    @torch.no_grad()
    def evaluate(
        self, model: Model, split: Split = "validation", *, progress: Progress | None = None
    ) -> dict[str, float]:
        """`mse` and `mae` over every window, and of `persistence_`, `seasonal_` and `linear_`; for each further horizon
        h the same with `@h` behind it."""
        assert isinstance(model, EncoderOnly)
        data = self.recipe.data
        figures: dict[str, float] = {}
        asked = sorted({*data.horizons} - {data.horizon})
        total = sum(len(self.starts(split, horizon)) for horizon in (data.horizon, *asked))
        done = 0
        for horizon in (data.horizon, *asked):
            behind = "" if horizon == data.horizon else f"@{horizon}"
            sums = dict.fromkeys(("", "persistence_", "seasonal_", "linear_"), Errors())
            for some in torch.tensor(self.starts(split, horizon)).split(data.batch):
                for name, errors in self._errors(model, some, horizon).items():
                    sums[name] = sums[name].plus(errors)
                done += len(some)
                if progress is not None:
                    progress(done, total)
            for name, errors in sums.items():
                figures |= {f"{name}mse{behind}": errors.mse, f"{name}mae{behind}": errors.mae}
        return figures

    def samples(self, model: Model) -> tuple[Sample, ...]:
        """The middle validation window's first forecast column, drawn in one line."""
        assert isinstance(model, EncoderOnly)
        data, starts = self.recipe.data, self.starts("validation", self.recipe.data.horizon)
        middle = torch.tensor([starts[len(starts) // 2]])
        history, future = windows(self.series.values, middle, data.lookback, data.horizon)
        device = next(model.parameters()).device
        with torch.no_grad():
            found = model(history.to(device)).float().cpu()
        column = self.series.reading.forecast_channels[0]
        lines = [each[0, :, column].numpy() for each in (history, found, future)]
        low, high = min(map(np.min, lines)), max(map(np.max, lines))
        return (Sample(*(sparkline(line, float(low), float(high)) for line in lines)),)

    def published(self) -> Published:
        return Published({FACTS: self.series.reading.json()})

    @cached_property
    def season(self) -> int:
        """Steps in a season, as told or as found in the training rows."""
        data = self.recipe.data
        return data.season or best_season(self._training_rows(), data.lookback, data.horizon)

    def line(self, horizon: int) -> Line:
        """The line fitted to the training rows, kept for the next time."""
        if horizon not in self._lines:
            self._lines[horizon] = Line.fitted(self._training_rows(), self.recipe.data.lookback, horizon)
        return self._lines[horizon]

    @cached_property
    def _lines(self) -> dict[int, Line]:
        return {}

    def _training_rows(self) -> np.ndarray:
        rows = self.series.values[slice(*self.series.spans.training)]
        return rows[:, self.series.reading.forecast_channels].double().numpy()

    def _errors(self, model: EncoderOnly, starts: Tensor, horizon: int) -> dict[str, Errors]:
        """The model's errors on these windows, and the simple forecasts'."""
        reading, lookback = self.series.reading, self.recipe.data.lookback
        history, future = windows(self.series.values, starts, lookback, horizon)
        device = next(model.parameters()).device
        known = future[..., len(reading.columns) :].to(device) if reading.features else None
        found = roll(model, history.to(device), horizon, known).cpu()[..., reading.forecast_channels]
        truth = future[..., reading.forecast_channels].double().numpy()
        past = history[..., reading.forecast_channels].double().numpy()
        forecasts = {
            "": found.double().numpy(),
            "persistence_": persistence(past, horizon),
            "seasonal_": seasonal_naive(past, horizon, self.season),
            "linear_": self.line(horizon).forecast(past),
        }
        return {name: Errors.between(each, truth) for name, each in forecasts.items()}
