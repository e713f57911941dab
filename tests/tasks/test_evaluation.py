"""A run is opened by its recipe and measured again; tasks are found by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clearformer.errors import DataError, RunError, UsageError
from clearformer.tasks.classification import ClassificationRecipe
from clearformer.tasks.corpus import TextData
from clearformer.tasks.evaluation import evaluate
from clearformer.tasks.labelled_texts import LabelledData
from clearformer.tasks.language import LanguageRecipe
from clearformer.tasks.masked import MaskedRecipe
from clearformer.tasks.models import Encoder, Gpt
from clearformer.tasks.registry import RECIPES, recipe_type, task_name
from clearformer.train.recipe import Recipe
from clearformer.train.recipe_file import parse_recipe, write_recipe
from task_runs import publish

Opened = Callable[[Any], tuple[Any, Any, Any]]


def recipes(text: Path, table: Path) -> list[Recipe]:
    data, encoder = TextData(path=str(text), context=24, batch=4), Encoder(width=16, heads=2, layers=1)
    return [
        LanguageRecipe(data=data, model=Gpt(width=16, heads=2, layers=1)),
        MaskedRecipe(data=data, model=encoder),
        ClassificationRecipe(data=LabelledData(path=str(table), share=0.25), model=encoder),
    ]


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_published_run_is_measured_as_it_was_trained(
    which: int, text_file: Path, table_file: Path, opened: Opened
) -> None:
    task, model, run = opened(recipes(text_file, table_file)[which])
    expected = task.evaluate(model)
    path = publish(task, model, run)
    for batch in (None, 1, 7):
        found = evaluate(path, batch=batch)
        assert (found.task, found.split) == (task.name, "validation")
        assert found.metrics == pytest.approx(expected, rel=1e-5)
        assert found.n == next(n for name, n in task.sizes().items() if name.startswith("validation"))
    with pytest.raises(DataError, match="no test split"):
        evaluate(path, "test")


def test_what_is_no_run_is_refused(text_file: Path, table_file: Path, opened: Opened, minilm_folder: Path) -> None:
    with pytest.raises(RunError, match=r"no recipe\.yaml"):
        evaluate(minilm_folder)
    with pytest.raises(UsageError, match="validation or test"):
        evaluate(minilm_folder, "training")  # type: ignore[arg-type]
    task, model, run = opened(recipes(text_file, table_file)[0])
    publish(task, model, run)
    run.recipe_path.write_text("type: LangRecipe\n", encoding="utf-8")
    with pytest.raises(UsageError, match="of type LangRecipe; expected LanguageRecipe, MaskedRecipe"):
        evaluate(run.path)
    run.recipe_path.write_text("type: [", encoding="utf-8")
    with pytest.raises(UsageError, match="is no recipe"):
        evaluate(run.path)


@pytest.mark.parametrize("task", RECIPES)
def test_every_task_has_a_recipe_that_is_written_and_read_back(task: str) -> None:
    kind = recipe_type(task)
    recipe = kind()
    assert task_name(recipe) == task
    assert parse_recipe(kind, write_recipe(recipe)) == recipe


def test_an_unknown_task_is_told_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"No task is called langage\. Did you mean language\?"):
        recipe_type("langage")


def test_flags_reach_the_recipe() -> None:
    flags = [("data.path", "x.txt"), ("model", "Modern"), ("model.kv_heads", "1"), ("tokenizer", "BytePair")]
    recipe = parse_recipe(recipe_type("language"), "", [*flags, ("tokenizer.vocabulary", "500")])
    written = write_recipe(recipe)
    assert "kv_heads: 1" in written
    assert "vocabulary: 500" in written
    assert "data:" in written
