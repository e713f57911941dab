"""Stand-ins for what the tour trains: the same tasks, tiny and short."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clearformer.cli import tour_lab, tour_training
from clearformer.lab.experiments import find
from clearformer.tasks.forecasting import PatchForecaster
from clearformer.tasks.models import Gpt
from clearformer.tasks.tokenizing import Characters
from clearformer.train.recipe import Constant
from lab.lab_trials import Here


def shorten(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """A text of the test's own, models of one layer, a few steps; and no bar that these would have to clear."""
    text = folder / "text.txt"
    text.write_text("The expression is evaluated. " * 200, encoding="utf-8")
    counting, prose, waves = tour_training.counting(), tour_training.prose(), tour_training.waves()
    gpt = Gpt(width=16, heads=2, layers=1)
    short = {"steps": 8, "schedule": Constant()}
    data = replace(prose.data, path=str(text), context=16, batch=4)
    few = replace(waves.data, lookback=32, horizon=8, rows=(100, 50, 50), batch=64)
    model = PatchForecaster(width=16, heads=2, layers=1, hidden=16, normalise=False)
    patch.setattr(tour_training, "counting", lambda: replace(counting, model=gpt, **short))
    patch.setattr(
        tour_training, "prose", lambda: replace(prose, data=data, tokenizer=Characters(), model=gpt, steps=60)
    )
    patch.setattr(tour_training, "waves", lambda: replace(waves, data=few, model=model, **short))
    patch.setattr(tour_lab, "STEPS", 2)
    patch.setattr(tour_lab, "EXPECTED", ("so", "not so", "undecided"))
    patch.setattr(tour_lab, "hire", lambda count: Here(find(tour_lab.NAME)).hired(count))
    patch.setattr(tour_training, "RIGHT", 0.0)
    patch.setattr(tour_training, "BETTER", 0)
