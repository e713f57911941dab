"""What a run would take, before it is made: parameters, memory, data and time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from clearformer.checkpoint.atomic import write_bytes
from clearformer.machine import in_binary_units
from clearformer.machine.speed import identity
from clearformer.messages import Message
from clearformer.messages import train as say
from clearformer.spec.typed import write
from clearformer.speed.kept_memory import kept_memory
from clearformer.store.places import home
from clearformer.train.calibration import SECONDS, Timing, calibrate
from clearformer.train.computing import choose_for
from clearformer.train.optimizer import Mover
from clearformer.train.progress import Plan
from clearformer.train.recipe import Recipe
from clearformer.train.recipe_checks import check_length, check_recipe
from clearformer.train.session import new_model
from clearformer.train.task import Task

_UNITS = ((3600, "h"), (60, "min"), (1, "s"))


@dataclass(frozen=True)
class Estimate:
    """Memory in bytes; the time is that of `steps` updates and the evaluations and
    samples between them, on this machine."""

    parameters: int
    memory: int
    sizes: Mapping[str, int]
    steps: int
    evaluations: int
    samples: int
    timing: Timing

    @property
    def seconds(self) -> float:
        timing = self.timing
        watched = self.evaluations * timing.evaluation_s + self.samples * timing.sample_s
        return timing.start_s + self.steps * timing.update_s + watched

    def facts(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "parameters": self.parameters,
            "memory": self.memory,
            "data": dict(self.sizes),
            "steps": self.steps,
            "seconds": self.seconds,
            "update_s": self.timing.update_s,
            "evaluation_s": self.timing.evaluation_s,
            "evaluations": self.evaluations,
            "sample_s": self.timing.sample_s,
            "samples": self.samples,
        }

    def lines(self) -> Iterator[tuple[Message, dict[str, Any]]]:
        """As sentences with their values."""
        yield say.PARAMETERS, {"count": self.parameters}
        yield say.MEMORY, {"size": in_binary_units(self.memory)}
        for name, count in self.sizes.items():
            yield say.DATA_SIZE, {"name": name, "count": count}
        timing = self.timing
        yield (
            say.TIME,
            {
                "time": _in_words(self.seconds),
                "steps": self.steps,
                "update_ms": timing.update_s * 1e3,
                "evaluations": self.evaluations,
                "evaluation_s": timing.evaluation_s,
                "share": 1 - (timing.start_s + self.steps * timing.update_s) / self.seconds,
            },
        )


def estimate(task: Task[Any], recipe: Recipe, cache: Path | None = None) -> Estimate:
    """Reckoned from at most about ten seconds of trial, which are kept in `cache` (the program's own if None)."""
    check_recipe(recipe)
    check_length(recipe)
    model = new_model(task, recipe)
    parameters = sum(weight.numel() for weight in model.parameters())
    folder = (home() if cache is None else cache) / "calibrations"
    path = folder / f"{_key(task, recipe, parameters)}.json"
    timing = _kept(path)
    if timing is None:
        with kept_memory(recipe.compute.device):
            choices = choose_for(task, recipe, model, lambda note: None)
            timing = calibrate(task, recipe, model, Mover(model, recipe.optimizer), choices, SECONDS)
        folder.mkdir(parents=True, exist_ok=True)
        write_bytes(path, json.dumps(asdict(timing)).encode())
    if recipe.budget is None:
        assert recipe.steps is not None
        plan = Plan.of(recipe.watch, recipe.steps)
    else:
        steps = timing.steps_in(recipe.budget, recipe.watch)
        plan = Plan.of(recipe.watch, steps, timing.periods_in(recipe.budget))
    watched = plan.evaluations_after(0), plan.samples_after(0)
    return Estimate(parameters, timing.memory, task.sizes(), plan.steps, *watched, timing)


def _key(task: Task[Any], recipe: Recipe, parameters: int) -> str:
    """What a trial depends on: the machine, the model, the data, and all of the recipe but its length and seed."""
    data = write(replace(recipe, steps=None, budget=None, seed=0))
    told = [identity(), parameters, dict(task.sizes()), data]
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()[:24]


def _kept(path: Path) -> Timing | None:
    try:
        return Timing(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _in_words(seconds: float) -> str:
    size, unit = next(((size, unit) for size, unit in _UNITS if seconds >= size), (1, "s"))
    return f"{seconds / size:.1f} {unit}"
