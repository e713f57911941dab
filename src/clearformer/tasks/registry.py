"""The six tasks by name, each imported when it is asked for: one costs nothing to those who train another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from clearformer.errors import UsageError
from clearformer.messages import did_you_mean
from clearformer.messages import tasks as say
from clearformer.train.recipe import Recipe
from clearformer.train.task import Task


class Named(Protocol):
    """What every task's recipe has as `data`."""

    def require_named(self) -> None:
        """Raises DataError or UsageError, and reads nothing."""


Entry = tuple[type[Recipe], Callable[[Any, Path], Task[Any]]]


def _language() -> Entry:
    from clearformer.tasks.language import LanguageRecipe, LanguageTask

    return LanguageRecipe, LanguageTask.open


def _masked() -> Entry:
    from clearformer.tasks.masked import MaskedRecipe, MaskedTask

    return MaskedRecipe, MaskedTask.open


def _translation() -> Entry:
    from clearformer.tasks.translation import TranslationRecipe, TranslationTask

    return TranslationRecipe, TranslationTask.open


def _forecasting() -> Entry:
    from clearformer.tasks.forecasting import ForecastingRecipe, ForecastingTask

    return ForecastingRecipe, ForecastingTask.open


def _classification() -> Entry:
    from clearformer.tasks.classification import ClassificationRecipe, ClassificationTask

    return ClassificationRecipe, ClassificationTask.open


def _vision() -> Entry:
    from clearformer.tasks.vision import VisionRecipe, VisionTask

    return VisionRecipe, VisionTask.open


RECIPES: dict[str, Callable[[], Entry]] = {
    "language": _language,
    "masked": _masked,
    "translation": _translation,
    "forecasting": _forecasting,
    "classification": _classification,
    "vision": _vision,
}


def recipe_type(task: str) -> type[Recipe]:
    """The recipe of a task. Raises UsageError for a name that is none."""
    return _entry(task)[0]


def recipe_types() -> tuple[type[Recipe], ...]:
    """The recipes of all tasks."""
    return tuple(recipe_type(task) for task in RECIPES)


def task_name(recipe: Recipe) -> str:
    """The task that a recipe belongs to."""
    return next(task for task in RECIPES if recipe_type(task) is type(recipe))


def open_task(recipe: Recipe, folder: Path) -> Task[Any]:
    """The recipe's task, its data read and kept ready under `folder`. Raises DataError, TokenizerError, UsageError."""
    return _entry(task_name(recipe))[1](recipe, folder)


def require_named(recipe: Recipe) -> None:
    """Raises DataError or UsageError for a recipe whose data are not named, or not so that they can be found."""
    data: Named = recipe.data  # type: ignore[attr-defined]
    data.require_named()


def _entry(task: str) -> Entry:
    if task not in RECIPES:
        hint = did_you_mean(task, RECIPES)
        raise UsageError(say.UNKNOWN_TASK, found=task, expected=", ".join(RECIPES), hint=hint)
    return RECIPES[task]()
