"""Which series a forecaster learns: found, put in standard units, and split in time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from clearformer.data import calendar
from clearformer.data.calendar import Step
from clearformer.data.made import sine
from clearformer.data.named import find
from clearformer.data.scaler import Scaler
from clearformer.data.series import Spans, spans_by_rows, spans_by_shares
from clearformer.data.table import Table, read_table
from clearformer.errors import DataError, UsageError
from clearformer.messages import Message
from clearformer.messages import series as say
from clearformer.messages import tasks as tasks_say
from clearformer.messages import tasks_forecasting as task_say
from clearformer.tasks.ranges import require

FACTS = "forecasting.json"
# Twelve, four and four months of 30 days, hourly: the rows on which all published figures for ETTh1 are taken.
_ETT_ROWS = (8640, 2880, 2880)


@dataclass(frozen=True)
class SeriesData:
    """A table of numbers over time, and how it is cut: training first, then validation, then test."""

    path: str = ""
    """A CSV file with a header, perhaps with dates in its first column; or ett (ETTh1) or sine."""
    target: str | None = None
    """Forecast this column alone; every column if left out."""
    others: bool = False
    """With a target: let the model read the other columns as well. Needs a model that mixes channels."""
    calendar: bool = False
    """Let the model read the hour, the weekday and so on. Needs dates, and a model that mixes channels."""
    lookback: int = 96
    """Steps of history that a forecast reads."""
    horizon: int = 32
    """Steps that the model forecasts at once."""
    horizons: tuple[int, ...] = ()
    """More horizons to report: a shorter one is the forecast's beginning, a longer one reads its own forecasts."""
    rows: tuple[int, int, int] | None = None
    """Rows of training, validation and test; for ett 8640, 2880, 2880 if left out."""
    shares: tuple[float, float, float] = (0.7, 0.1, 0.2)
    """The same as shares of all rows, where rows are not given."""
    season: int | None = None
    """Steps in a season, for the seasonal-naive forecast; the best on the training rows if left out."""
    batch: int = 32
    """Windows a batch."""

    def __post_init__(self) -> None:
        for name in ("lookback", "horizon", "batch"):
            require(f"data.{name}", getattr(self, name), getattr(self, name) >= 1, tasks_say.WHOLE_FROM_1)
        for horizon in self.horizons:
            require("data.horizons", horizon, horizon >= 1, tasks_say.WHOLE_FROM_1)
        if self.season is not None:
            held = 1 <= self.season <= self.lookback
            require("data.season", self.season, held, say.SEASON_RANGE, lookback=self.lookback)

    def require_named(self) -> None:
        """Raises DataError where there is no path, UsageError for other columns without one to forecast."""
        if not self.path:
            raise DataError(task_say.NO_DATA)
        if self.others and self.target is None:
            raise UsageError(task_say.OTHERS_NEED_TARGET)


@dataclass(frozen=True)
class Reading:
    """How a trained forecaster reads a table: its columns, those it forecasts, its units and lengths."""

    columns: tuple[str, ...]
    targets: tuple[str, ...]
    scaler: Scaler
    lookback: int
    horizon: int
    features: bool
    step: Step | None

    def inputs(self, table: Table) -> Float[np.ndarray, "rows C"]:
        """The channels that the model reads: the columns in standard units, then the calendar's."""
        standard = self.scaler.standard(table.only(self.columns).values)
        if not self.features:
            return standard
        assert table.dates is not None
        assert table.step is not None
        return np.concatenate((standard, calendar.features(table.dates, table.step)), 1)

    @property
    def forecast_channels(self) -> list[int]:
        """Where the forecast columns stand among the channels."""
        return [self.columns.index(name) for name in self.targets]

    def json(self) -> bytes:
        """What `reading_from` reads back as it was."""
        step = None if self.step is None else {"months": self.step.months, "seconds": self.step.seconds}
        facts = {
            "columns": self.columns,
            "targets": self.targets,
            **self.scaler.facts(),
            "lookback": self.lookback,
            "horizon": self.horizon,
            "calendar": self.features,
            "step": step,
        }
        return (json.dumps(facts, indent=2, ensure_ascii=False) + "\n").encode()


def reading_from(folder: Path) -> Reading:
    """What stands in a run folder beside the weights. Raises DataError for a file that is missing or damaged."""
    path = folder / FACTS
    try:
        facts: Mapping[str, object] = json.loads(path.read_text(encoding="utf-8"))
        return _reading(facts)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        detail = f"{type(error).__name__} {error}"
        raise DataError(task_say.BAD_FACTS, path=path, detail=detail) from error


@dataclass(frozen=True)
class SplitSeries:
    """The table as the model reads it, and its three spans of rows."""

    table: Table
    reading: Reading
    spans: Spans
    values: Float[Tensor, "rows C"]

    @classmethod
    def open(cls, data: SeriesData, folder: Path) -> SplitSeries:
        """Reads the data. The units are the folder's, if it was trained in before. Raises DataError, UsageError."""
        table = _table(data)
        if data.calendar and table.dates is None:
            raise DataError(task_say.NO_CALENDAR, path=data.path)
        spans = _spans(data, len(table.values))
        targets = table.columns if data.target is None else (data.target,)
        scaler = Scaler.fitted(table.values[slice(*spans.training)])
        reading = Reading(table.columns, targets, scaler, data.lookback, data.horizon, data.calendar, table.step)
        if (folder / FACTS).is_file():
            kept = reading_from(folder)
            if kept.columns != table.columns or kept.targets != targets:
                expected, found = ", ".join(kept.columns), ", ".join(table.columns)
                raise DataError(task_say.OTHER_COLUMNS, expected=expected, found=found)
            reading = kept
        values = torch.from_numpy(reading.inputs(table)).float()
        if not np.isfinite(reading.scaler.deviation).all() or not values.isfinite().all():
            raise DataError(task_say.NUMBERS_TOO_LARGE, path=data.path, found=np.abs(table.values).max())
        return cls(table, reading, spans, values)

    def span(self, split: str) -> tuple[tuple[int, int], Message]:
        """The rows of a split, and its name for a sentence."""
        match split:
            case "training":
                return self.spans.training, say.TRAINING
            case "validation":
                return self.spans.validation, say.VALIDATION
            case _:
                return self.spans.test, say.TEST


def _table(data: SeriesData) -> Table:
    data.require_named()
    wanted = (data.target,) if data.target is not None and not data.others else None
    if data.path == "sine":
        table = sine()
        return table if wanted is None else table.only(wanted)
    path = find("ett") / "ETTh1.csv" if data.path == "ett" else Path(data.path)
    if data.target is not None and data.others:
        # Named first, so that a wrong name is told before any cell is read.
        read_table(path, (data.target,))
    return read_table(path, wanted)


def _spans(data: SeriesData, total: int) -> Spans:
    if data.rows is not None:
        return spans_by_rows(total, data.rows)
    return spans_by_rows(total, _ETT_ROWS) if data.path == "ett" else spans_by_shares(total, data.shares)


def _reading(facts: Mapping[str, object]) -> Reading:
    step, columns, targets = facts["step"], facts["columns"], facts["targets"]
    mean, deviation = facts["mean"], facts["deviation"]
    assert isinstance(columns, list)
    assert isinstance(targets, list)
    assert isinstance(mean, list)
    assert isinstance(deviation, list)
    if not len(columns) == len(mean) == len(deviation) or not set(targets) <= set(columns) or not targets:
        raise ValueError("columns, targets, mean and deviation do not fit together")
    return Reading(
        tuple(map(str, columns)),
        tuple(map(str, targets)),
        Scaler.of({"mean": mean, "deviation": deviation}),
        int(str(facts["lookback"])),
        int(str(facts["horizon"])),
        bool(facts["calendar"]),
        Step(int(step["months"]), float(step["seconds"])) if isinstance(step, dict) else None,
    )
