"""The forecasting task: figures by hand, the same for every batch size; what it refuses; what it publishes."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.lib.stride_tricks import sliding_window_view

from clearformer.build import build
from clearformer.errors import DataError, UsageError
from clearformer.model import EncoderOnly
from clearformer.tasks.forecasting import ForecastingRecipe, ForecastingTask, PatchForecaster
from clearformer.tasks.series_data import FACTS, SeriesData, reading_from

SMALL = PatchForecaster(width=16, heads=2, layers=1, hidden=16, patch=4, stride=2)
MIXING = replace(SMALL, independent=False)
SHORT = SeriesData(lookback=12, horizon=4, batch=16)


def csv(folder: Path, rows: int = 160) -> Path:
    """An hourly table of two columns, a day's wave and a slow walk."""
    draw = np.random.default_rng(0)
    hours = np.arange(rows)
    wave, walk = 10 + np.sin(2 * np.pi * hours / 8), 100 + draw.normal(size=rows).cumsum()
    lines = [f"{datetime(2020, 1, 1) + timedelta(hours=int(h))},{wave[h]},{walk[h]}" for h in hours]
    path = folder / "series.csv"
    path.write_text("\n".join(["date,wave,walk", *lines]) + "\n")
    return path


def task(folder: Path, model: PatchForecaster = SMALL, **data: object) -> ForecastingTask:
    path = folder / "series.csv"
    path = path if path.exists() else csv(folder)
    settings = replace(SHORT, **{"path": str(path), **data})
    return ForecastingTask.open(ForecastingRecipe(data=settings, model=model), folder / "run")


def model_of(task: ForecastingTask) -> EncoderOnly:
    model = build(task.spec, generator=torch.Generator().manual_seed(0)).eval()
    assert isinstance(model, EncoderOnly)
    return model


def test_figures_by_hand_over_every_window(tmp_path: Path) -> None:
    found = task(tmp_path)
    model = model_of(found)
    values = found.series.values
    assert found.series.spans.test == (128, 160)
    cut = sliding_window_view(values[128 - 12 :].numpy(), 16, 0).transpose(0, 2, 1).copy()
    history, truth = torch.from_numpy(cut[:, :12]), cut[:, 12:].astype(np.float64)
    assert len(cut) == 32 - 4 + 1 == found.sizes()["test windows"]
    with torch.no_grad():
        error = model(history).double().numpy() - truth
    figures = found.evaluate(model, "test")
    assert figures["mse"] == pytest.approx(np.mean(error**2), rel=1e-6)
    assert figures["mae"] == pytest.approx(np.mean(np.abs(error)), rel=1e-6)
    last = history[:, -1:].double().numpy()
    assert figures["persistence_mse"] == pytest.approx(np.mean((last - truth) ** 2), rel=1e-6)
    assert figures["seasonal_mse"] == pytest.approx(
        np.mean((history.double().numpy()[:, -found.season :][:, np.arange(4) % found.season] - truth) ** 2)
    )


def test_units_are_the_training_rows(tmp_path: Path) -> None:
    found = task(tmp_path)
    training = found.series.values[:112]
    np.testing.assert_allclose(training.mean(0), 0, atol=1e-6)
    np.testing.assert_allclose(training.std(0, correction=0), 1, atol=1e-5)


@pytest.mark.parametrize("split", ["validation", "test"])
def test_no_batch_size_shows_in_a_figure(tmp_path: Path, split: str) -> None:
    csv(tmp_path)
    wanted: dict[str, float] = {}
    for batch in (1, 7, 64):
        found = task(tmp_path, batch=batch, horizons=(2, 9))
        figures = found.evaluate(model_of(found), split)
        wanted = wanted or figures
        assert figures == pytest.approx(wanted, rel=1e-6)


def test_a_shorter_horizon_is_the_beginning_and_a_longer_one_reads_itself(tmp_path: Path) -> None:
    found = task(tmp_path, horizons=(2, 7))
    model = model_of(found)
    figures = found.evaluate(model, "test")
    values, errors = found.series.values, {2: [], 7: []}
    with torch.no_grad():
        for horizon, kept in errors.items():
            for start in range(128, 160 - horizon + 1):
                history = values[None, start - 12 : start]
                first = model(history)
                second = model(torch.cat((history, first), 1)[:, -12:])
                forecast = torch.cat((first, second), 1)[0, :horizon]
                kept.append((forecast - values[start : start + horizon]).double())
    for horizon, kept in errors.items():
        assert figures[f"mse@{horizon}"] == pytest.approx(float(torch.stack(kept).square().mean()), rel=1e-5)
    assert {f"{name}{error}@7" for name in ("", "linear_", "seasonal_") for error in ("mse", "mae")} <= set(figures)


def test_the_loss_is_a_sum_over_windows_of_the_target_alone(tmp_path: Path) -> None:
    found = task(tmp_path, MIXING, target="walk", others=True, calendar=True)
    assert found.spec.encoder.input.channels == 2 + 4
    model, batch = model_of(found), found.training().batch(0, 0)
    loss = found.loss(model, batch)
    assert loss.units == found.units(batch) == 16
    error = (model(batch.history) - batch.future)[..., 1]
    torch.testing.assert_close(loss.total, error.square().mean(1).sum())
    figures = found.evaluate(model, "test")
    assert figures == pytest.approx(
        task(tmp_path, MIXING, target="walk", others=True, calendar=True, batch=3).evaluate(model, "test"), rel=1e-6
    )
    alone = task(tmp_path, target="walk")
    assert alone.spec.encoder.input.channels == 1
    assert alone.evaluate(model_of(alone), "test")["persistence_mse"] == pytest.approx(figures["persistence_mse"])


def test_calendar_features_carry_no_loss(tmp_path: Path) -> None:
    found = task(tmp_path, MIXING, calendar=True)
    model, batch = model_of(found), found.training().batch(0, 0)
    found.loss(model, batch).total.backward()
    weight = model.head.project.weight.grad.unflatten(0, (4, 6))
    assert weight[:, :2].abs().sum() > 0
    assert weight[:, 2:].abs().sum() == 0


@pytest.mark.parametrize(
    ("data", "model", "named"),
    [
        ({"calendar": True}, SMALL, "mixes channels"),
        ({"others": True, "target": "walk"}, SMALL, "mixes channels"),
        ({"others": True}, MIXING, "no others to read"),
        ({"lookback": 3}, SMALL, "patch of 4 steps does not fit"),
        ({"target": "wlak"}, SMALL, "Did you mean walk"),
        ({"horizon": 40}, SMALL, "validation rows are too few"),
        ({"horizons": (40,)}, SMALL, "validation rows are too few"),
        ({"rows": (100, 50, 50)}, SMALL, "asks for 200 rows"),
        ({"path": ""}, SMALL, "names no series"),
    ],
)
def test_settings_that_cannot_be(tmp_path: Path, data: dict[str, object], model: PatchForecaster, named: str) -> None:
    with pytest.raises((DataError, UsageError)) as caught:
        task(tmp_path, model, **data)
    assert named in caught.value.cause()


@pytest.mark.parametrize("wrong", [{"lookback": 0}, {"batch": 0}, {"horizons": (0,)}, {"season": 0}, {"season": 13}])
def test_numbers_out_of_range(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        replace(SHORT, **wrong)


def test_calendar_features_need_dates(tmp_path: Path) -> None:
    path = tmp_path / "series.csv"
    path.write_text("a\n" + "\n".join(str(each % 7) for each in range(200)))
    with pytest.raises(DataError, match="no column of dates"):
        task(tmp_path, MIXING, calendar=True)


def test_what_is_published_opens_the_task_in_the_same_units(tmp_path: Path) -> None:
    found = task(tmp_path)
    run = tmp_path / "run"
    run.mkdir()
    (run / FACTS).write_bytes(found.published().files[FACTS])
    assert reading_from(run) == found.series.reading
    text = (tmp_path / "series.csv").read_text()
    (tmp_path / "series.csv").write_text(text.replace(",10.0,", ",11.0,"))
    assert task(tmp_path).series.reading == found.series.reading
    with pytest.raises(DataError, match="trained on the columns wave, walk"):
        task(tmp_path, target="walk")
    (run / FACTS).write_text('{"columns": ["a"]}')
    with pytest.raises(DataError, match="does not say"):
        task(tmp_path)


def test_samples_are_lines_of_the_right_length(tmp_path: Path) -> None:
    found = task(tmp_path)
    (sample,) = found.samples(model_of(found))
    assert (len(sample.input), len(sample.output), len(sample.truth or "")) == (12, 4, 4)


def test_sines_are_learnt_in_seconds(tmp_path: Path) -> None:
    """A few steps must beat persistence tenfold; the recipe's own length reaches more than a thousandfold."""
    recipe = ForecastingRecipe(data=SeriesData(path="sine"))
    found = ForecastingTask.open(replace(recipe, model=replace(recipe.model, layers=1)), tmp_path)
    model = model_of(found).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    batches = found.training()
    for number in range(60):
        loss = found.loss(model, batches.batch(0, number))
        optimizer.zero_grad()
        (loss.total / loss.units).backward()
        optimizer.step()
    figures = found.evaluate(model.eval(), "test")
    assert figures["mse"] < figures["persistence_mse"] / 10


@pytest.mark.parametrize("row", [5, 150])
def test_numbers_past_every_float_are_refused(tmp_path: Path, row: int) -> None:
    """In the training rows they spoil the units; behind them, the standard values."""
    path = csv(tmp_path)
    lines = path.read_text().splitlines()
    lines[row] = f"{lines[row].split(',')[0]},1e308,-1e308"
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"up to 1e\+308"):
        task(tmp_path)
