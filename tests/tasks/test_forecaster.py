"""A trained forecaster's answers: in the data's own units, at the right dates, and as a picture."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from clearformer.build import build
from clearformer.data.calendar import Step
from clearformer.data.table import Table, read_table
from clearformer.errors import DataError
from clearformer.model import EncoderOnly
from clearformer.tasks.forecast_picture import draw_forecast
from clearformer.tasks.forecaster import forecast
from clearformer.tasks.forecasting import ForecastingRecipe, ForecastingTask, PatchForecaster
from clearformer.tasks.series_data import SeriesData

SMALL = PatchForecaster(width=16, heads=2, layers=1, hidden=16, patch=4, stride=2)


@pytest.fixture
def table(tmp_path: Path) -> Table:
    hours = np.arange(48 * 4)
    rows = [f"2021-03-{1 + h // 48:02}T{h % 48 // 2:02}:{h % 2 * 30:02},{20 + h % 7},{-5 * (h % 5)}" for h in hours]
    (tmp_path / "half.csv").write_text("\n".join(["date,a,b", *rows]))
    return read_table(tmp_path / "half.csv")


def opened(folder: Path, **chosen: object) -> tuple[EncoderOnly, ForecastingTask]:
    data = SeriesData(path=str(folder / "half.csv"), lookback=12, horizon=4)
    model = SMALL if not chosen else replace(SMALL, independent=False)
    task = ForecastingTask.open(ForecastingRecipe(data=replace(data, **chosen), model=model), folder / "run")
    built = build(task.spec, generator=torch.Generator().manual_seed(1)).eval()
    assert isinstance(built, EncoderOnly)
    return built, task


def test_numbers_are_in_the_data_s_units_and_dated(tmp_path: Path, table: Table) -> None:
    model, task = opened(tmp_path)
    found = forecast(model, task.series.reading, table)
    with torch.no_grad():
        standard = model(task.series.values[None, -12:])[0].double().numpy()
    training = table.values[: task.series.spans.training[1]]
    np.testing.assert_allclose(found.values, standard * training.std(0) + training.mean(0), rtol=1e-5)
    assert found.columns == ("a", "b")
    assert found.dates is not None
    assert found.dates[0] == datetime(2021, 3, 5, 0, 0)
    assert found.dates[3] == datetime(2021, 3, 5, 1, 30)


def test_a_forecast_moves_with_its_data(tmp_path: Path, table: Table) -> None:
    """Reversible normalisation: all values doubled and lifted give the forecast doubled and lifted."""
    model, task = opened(tmp_path)
    scaled = replace(table, values=2 * table.values + 30)
    plain = forecast(model, task.series.reading, table).values
    np.testing.assert_allclose(forecast(model, task.series.reading, scaled).values, 2 * plain + 30, rtol=1e-3)


def test_a_longer_forecast_begins_as_the_shorter_and_knows_the_calendar(tmp_path: Path, table: Table) -> None:
    for chosen in ({}, {"calendar": True}, {"calendar": True, "others": True, "target": "b"}):
        model, task = opened(tmp_path, **chosen)
        reading = task.series.reading
        long = forecast(model, reading, table, 11)
        np.testing.assert_allclose(forecast(model, reading, table).values, long.values[:4], rtol=1e-6)
        np.testing.assert_allclose(forecast(model, reading, table, 3).values, long.values[:3], rtol=1e-6)
        assert long.values.shape == (11, len(reading.targets))
        # Rows of any age before the look-back change nothing.
        np.testing.assert_allclose(forecast(model, reading, table.last(12), 11).values, long.values, rtol=1e-6)


def test_each_later_step_has_its_own_calendar(tmp_path: Path, table: Table) -> None:
    """A model that hands on what it reads of the hour: rolled by hand with the true hours of the steps ahead."""
    model, task = opened(tmp_path, calendar=True)
    reading, whole = task.series.reading, task.series.values
    past = Table(table.columns, table.values[:-12], table.dates and table.dates[:-12], table.step)
    window, parts = whole[None, -24:-12], []
    with torch.no_grad():
        for start in (-12, -8, -4):
            part = model(window)[..., :2]
            ahead = whole[None, start : start + 4 or None, 2:]
            window = torch.cat((window, torch.cat((part, ahead), 2)), 1)[:, -12:]
            parts.append(part[0].double().numpy())
    expected = reading.scaler.restored(np.concatenate(parts))
    np.testing.assert_allclose(forecast(model, reading, past, 12).values, expected, rtol=1e-5)


def test_columns_in_another_order_are_found_by_name(tmp_path: Path, table: Table) -> None:
    model, task = opened(tmp_path)
    expected = forecast(model, task.series.reading, table).values
    np.testing.assert_array_equal(forecast(model, task.series.reading, table.only(("b", "a"))).values, expected)


def test_histories_that_do_not_fit(tmp_path: Path, table: Table) -> None:
    model, task = opened(tmp_path)
    reading = task.series.reading
    with pytest.raises(DataError, match="reads the last 12 rows; the table has 11"):
        forecast(model, reading, table.last(11))
    with pytest.raises(DataError, match="trained on the columns a, b; the data now give a"):
        forecast(model, reading, table.only(("a",)))
    hourly = replace(table, step=Step(seconds=3600))
    with pytest.raises(DataError, match="0:30:00 apart; these are 1:00:00 apart"):
        forecast(model, reading, hourly)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_picture(tmp_path: Path, table: Table, language: str) -> None:
    model, task = opened(tmp_path)
    history = Table(table.columns, table.values[:-4], table.dates and table.dates[:-4], table.step)
    found = forecast(model, task.series.reading, history)
    path = draw_forecast(tmp_path / "plots" / "x.png", history, found, table.last(4), language=language)
    with Image.open(path) as image:
        assert image.width > 800
        assert len(image.convert("RGB").getcolors(10**6) or ()) > 20
    bare = Table(("a$b", "b"), table.values)
    drawn = draw_forecast(tmp_path / "y.svg", bare, replace(found, columns=("a$b", "b"), dates=None))
    assert drawn.read_text(encoding="utf-8").startswith("<?xml")
