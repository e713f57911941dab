"""How a run computes, settled by trying its own first batches."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from torch import Tensor

from clearformer.messages import Message
from clearformer.model import Model
from clearformer.speed.training import Choices, choose
from clearformer.store.places import home
from clearformer.train.apart import trial_pass
from clearformer.train.events import Noted
from clearformer.train.recipe import Recipe
from clearformer.train.step import to_device
from clearformer.train.task import Task

_LOOKED_AT = 4


def choose_for(task: Task[Any], recipe: Recipe, model: Model, note: Callable[[Noted], None]) -> Choices:
    """Settle every `auto` of `recipe.compute` for this task; `note` hears what was measured and chosen."""
    batches = task.training()
    few = [batches.batch(0, number) for number in range(min(batches.count(0), _LOOKED_AT))]
    batch = to_device(few[0], recipe.compute.device)

    def step() -> None:
        trial_pass(model, lambda: task.loss(model, batch).total)

    def tell(message: Message, values: dict[str, Any]) -> None:
        note(Noted(message, values))

    return choose(
        model,
        recipe.compute,
        step,
        steps=_passes(recipe, step),
        folder=home(),
        note=tell,
        fixed_shapes=len({_shapes(each) for each in few}) == 1,
    )


def _passes(recipe: Recipe, step: Callable[[], None]) -> int:
    """Forward and backward passes that the run will make; with a budget, as many as one suggests."""
    if recipe.steps is not None:
        return recipe.steps * recipe.accumulate
    assert recipe.budget is not None
    step()
    begun = time.perf_counter()
    step()
    return max(int(recipe.budget / (time.perf_counter() - begun)), 1)


def _shapes(batch: Any) -> tuple[object, ...]:
    return tuple(tuple(field.shape) if isinstance(field, Tensor) else None for field in batch)
