"""A forecaster and an image classifier from data to run folder and back, by the loop itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from clearformer.data.table import Table
from clearformer.load import load
from clearformer.model import EncoderOnly
from clearformer.runs.folder import RunFolder
from clearformer.tasks.evaluation import evaluate
from clearformer.tasks.forecaster import forecast
from clearformer.tasks.forecasting import ForecastingRecipe, PatchForecaster
from clearformer.tasks.image_classifier import looking_from
from clearformer.tasks.registry import open_task
from clearformer.tasks.series_data import SeriesData, reading_from
from clearformer.tasks.vision import ImageData, VisionRecipe, VisionTransformer
from clearformer.train.events import Evaluated, Stopped
from clearformer.train.loop import Trainer
from clearformer.train.recipe import Compute, Recipe
from clearformer.train.recipe_file import parse_recipe, write_recipe

PLAIN = Compute(compile="no", kernel="sdpa", switch="no", threads=1)


def trained(recipe: Recipe, path: Path) -> dict[str, float]:
    """Train in a new run folder; the last figures that were seen."""
    run = RunFolder.create(path, write_recipe(recipe))
    with run.lock():
        events = list(Trainer(open_task(recipe, run.path), recipe, run).run())
    assert isinstance(events[-1], Stopped)
    assert events[-1].reason == "done"
    return dict([event for event in events if isinstance(event, Evaluated)][-1].metrics)


def table(folder: Path) -> Path:
    path = folder / "series.csv"
    values = np.sin(np.arange(200)[:, None] * [0.3, 0.5])
    path.write_text("a,b\n" + "\n".join(f"{row[0]},{row[1]}" for row in values.tolist()))
    return path


def test_a_forecaster_is_trained_kept_and_forecasts(tmp_path: Path) -> None:
    recipe = ForecastingRecipe(
        steps=12,
        data=SeriesData(path=str(table(tmp_path)), lookback=16, horizon=4, batch=16),
        model=PatchForecaster(width=16, heads=2, layers=1, hidden=16, patch=4, stride=4),
        compute=PLAIN,
    )
    seen = trained(recipe, tmp_path / "run")
    found = evaluate(tmp_path / "run", "validation", batch=5)
    assert found.n == 17
    assert found.metrics == pytest.approx(seen, rel=1e-5)
    loaded, reading = load(tmp_path / "run"), reading_from(tmp_path / "run")
    assert isinstance(loaded.model, EncoderOnly)
    history = Table(("a", "b"), np.sin(np.arange(200)[:, None] * [0.3, 0.5]))
    assert forecast(loaded.model, reading, history, 9).values.shape == (9, 2)


def test_a_classifier_of_images_is_trained_and_kept(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    labels = np.arange(60) % 2
    images = draw.integers(0, 100, (60, 4, 4), dtype=np.uint8) + (100 * labels[:, None, None]).astype(np.uint8)
    np.savez(tmp_path / "x.npz", images=images, labels=labels, names=np.array(["dark", "bright"]))
    recipe = VisionRecipe(
        steps=12,
        data=ImageData(path=str(tmp_path / "x.npz"), batch=16),
        model=VisionTransformer(width=16, heads=2, layers=1, hidden=16),
        compute=PLAIN,
    )
    seen = trained(recipe, tmp_path / "run")
    assert evaluate(tmp_path / "run", "validation", batch=1).metrics == pytest.approx(seen, rel=1e-5)
    loaded, looking = load(tmp_path / "run"), looking_from(tmp_path / "run")
    assert looking.names == ("dark", "bright")
    with torch.no_grad():
        logits = loaded.model(looking.standard.tensor(images[..., None]))
    assert logits.shape == (60, 2)


@pytest.mark.parametrize("recipe", [ForecastingRecipe(), VisionRecipe()])
def test_recipes_are_written_and_read_back(recipe: Recipe) -> None:
    if isinstance(recipe, ForecastingRecipe):
        recipe = replace(recipe, data=replace(recipe.data, rows=(3, 2, 1), horizons=(8, 16), target="OT"))
    else:
        recipe = replace(recipe, data=ImageData(path="digits", size=(8, 8)))
    assert parse_recipe(type(recipe), write_recipe(recipe)) == recipe
