"""Small texts, and runs made of them without the training loop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from clearformer.build import build
from clearformer.model import Model
from clearformer.runs.folder import RunFolder
from clearformer.tasks.registry import open_task
from clearformer.train.recipe import Recipe
from clearformer.train.recipe_file import write_recipe
from clearformer.train.task import Task
from task_runs import TEXT


@pytest.fixture
def text_file(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def table_file(tmp_path: Path) -> Path:
    """Texts whose class is told by one word."""
    path = tmp_path / "texts.tsv"
    words = {"good": "gut", "bad": "schlecht", "so-so": "mittel"}
    rows = [
        f"film {n} is {word}, said viewer {n * 7 % 11}\t{label}" for n in range(20) for word, label in words.items()
    ]
    path.write_text("text\tlabel\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def opened(tmp_path: Path) -> Callable[[Recipe], tuple[Task[Any], Model, RunFolder]]:
    """A recipe's task in a run folder, and its model with weights drawn large enough to disagree."""

    def make(recipe: Recipe) -> tuple[Task[Any], Model, RunFolder]:
        run = RunFolder.create(tmp_path / "run", write_recipe(recipe))
        task = open_task(recipe, run.path)
        model = build(task.spec, generator=torch.Generator().manual_seed(1))
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() == 2:
                    parameter.mul_(4)
        return task, model.eval(), run

    return make
