"""The figures of a finished run, on a split of the data that it was trained on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import torch

from clearformer.checkpoint.folder import RECIPE
from clearformer.errors import DataError, RunError, UsageError
from clearformer.load import Loaded, load
from clearformer.messages import Failure
from clearformer.messages import tasks as say
from clearformer.messages import tasks_translation as translation_say
from clearformer.store.resolve import resolve
from clearformer.tasks.corpus import MADE
from clearformer.tasks.registry import open_task, recipe_types
from clearformer.train.recipe import Recipe
from clearformer.train.recipe_file import read_recipe
from clearformer.train.task import Progress, Split, Task


@dataclass(frozen=True)
class Evaluation:
    """The metrics of one split, and over how many tokens or examples they were taken."""

    task: str
    split: Split
    metrics: Mapping[str, float]
    n: int


@dataclass(frozen=True)
class Run:
    """A finished run, opened again: its model, and the task that it was trained for."""

    path: Path
    task: Task[Any]
    loaded: Loaded


def open_run(
    run: str | Path,
    *,
    batch: int | None = None,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
) -> Run:
    """The run of that name or folder. `batch` replaces the recipe's `data.batch`. Raises RunError for a folder that
    holds no run, and what `load` and the task's own `open` raise."""
    folder = resolve(str(run)).path
    recipe = _recipe(folder, batch)
    return Run(folder, open_task(recipe, folder), load(folder, device=device, dtype=dtype))


def evaluate(
    run: str | Path,
    split: Split = "validation",
    *,
    batch: int | None = None,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
    progress: Progress | None = None,
) -> Evaluation:
    """The run's metrics on the whole split, the same for every `batch`. Raises DataError for a split that there is not,
    and what `open_run` does."""
    if split not in get_args(Split):
        raise UsageError(say.BAD_SPLIT, found=split)
    return evaluate_run(open_run(run, batch=batch, device=device, dtype=dtype), split, progress=progress)


def evaluate_run(opened: Run, split: Split = "validation", *, progress: Progress | None = None) -> Evaluation:
    """The same for a run that is open. Raises DataError for a split that there is not."""
    count = next((n for name, n in opened.task.sizes().items() if name.startswith(split)), None)
    if count is None:
        raise DataError(_without_test(opened.task), path=opened.path)
    metrics = opened.task.evaluate(opened.loaded.model, split, progress=progress)
    return Evaluation(opened.task.name, split, metrics, count)


def _without_test(task: Task[Any]) -> Failure:
    """What helps, by where the task's data come from."""
    data = task.recipe.data  # type: ignore[attr-defined]
    if task.name == "translation":
        return translation_say.NO_TEST
    return say.NO_TEST_MADE if data.path in MADE else say.NO_TEST


def _recipe(folder: Path, batch: int | None) -> Recipe:
    path = folder / RECIPE
    if not path.is_file():
        raise RunError(say.NOT_A_RUN, path=folder)
    overrides = [] if batch is None else [("data.batch", str(batch))]
    return read_recipe(recipe_types(), path, overrides)
