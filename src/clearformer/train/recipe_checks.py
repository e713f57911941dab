"""Values that no run can be made with, refused before anything is read or built."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Iterator

from clearformer.errors import UsageError
from clearformer.messages import Message
from clearformer.messages import train as say
from clearformer.train.recipe import (
    EMA,
    WSD,
    Adam,
    AdamW,
    Checkpoints,
    Compute,
    Constant,
    Cosine,
    Linear,
    LossSettings,
    Muon,
    Noam,
    Recipe,
    Watch,
)

Rule = tuple[Message, Callable[[float], bool]]

_AT_LEAST_0: Rule = say.AT_LEAST_0, lambda x: x >= 0
_SEED: Rule = say.SEED_RANGE, lambda x: 0 <= x < 2**63
_AT_LEAST_1: Rule = say.AT_LEAST_1, lambda x: x >= 1
_POSITIVE: Rule = say.POSITIVE, lambda x: x > 0
_BELOW_1: Rule = say.BELOW_1, lambda x: 0 <= x < 1
_SHARE: Rule = say.SHARE, lambda x: 0 <= x <= 1

_ADAM = {"lr": _POSITIVE, "beta1": _BELOW_1, "beta2": _BELOW_1, "eps": _POSITIVE}
_RULES: dict[type, dict[str, Rule]] = {
    Recipe: {
        "seed": _SEED,
        "steps": _AT_LEAST_1,
        "budget": _POSITIVE,
        "accumulate": _AT_LEAST_1,
        "clip": _POSITIVE,
    },
    AdamW: {**_ADAM, "weight_decay": _AT_LEAST_0},
    Adam: _ADAM,
    Muon: {"lr": _POSITIVE, "momentum": _BELOW_1, "iterations": _AT_LEAST_1, "weight_decay": _AT_LEAST_0},
    Constant: {"warmup": _AT_LEAST_0},
    Linear: {"warmup": _AT_LEAST_0, "floor": _SHARE},
    Cosine: {"warmup": _AT_LEAST_0, "floor": _SHARE},
    WSD: {"warmup": _AT_LEAST_0, "decay": _SHARE, "floor": _SHARE},
    Noam: {"warmup": _AT_LEAST_1},
    EMA: {"decay": _BELOW_1},
    Checkpoints: {"count": _AT_LEAST_1},
    LossSettings: {"smoothing": _BELOW_1, "z": _AT_LEAST_0, "chunk": _AT_LEAST_1},
    Watch: {name: _AT_LEAST_1 for name in ("evaluate", "sample", "save", "patience", "log")},
    Compute: {"threads": _AT_LEAST_1, "workers": _AT_LEAST_0},
}


def check_recipe(recipe: Recipe) -> None:
    """Raises UsageError for a number out of its range, and for `steps` and `budget` given both."""
    for name, value, (range_, holds) in _ruled(recipe, ""):
        # Of a whole number past every float, isfinite is an OverflowError.
        if not (isinstance(value, int) or math.isfinite(value)) or not holds(value):
            raise UsageError(say.OUT_OF_RANGE, field=name, expected=range_, found=value)
    if recipe.steps is not None and recipe.budget is not None:
        raise UsageError(say.STEPS_AND_BUDGET, steps=recipe.steps, budget=recipe.budget)


def check_length(recipe: Recipe) -> None:
    """Raises UsageError if nothing says how long to train."""
    if recipe.steps is None and recipe.budget is None:
        raise UsageError(say.NO_STEPS)


def _ruled(part: object, prefix: str) -> Iterator[tuple[str, float, Rule]]:
    """Every number that has a rule, by its dotted name."""
    assert dataclasses.is_dataclass(part)
    rules = {name: rule for kind in inspect.getmro(type(part)) for name, rule in _RULES.get(kind, {}).items()}
    for field in dataclasses.fields(part):
        value = getattr(part, field.name)
        if dataclasses.is_dataclass(value):
            yield from _ruled(value, f"{prefix}{field.name}.")
        elif field.name in rules and value is not None:
            yield f"{prefix}{field.name}", value, rules[field.name]
