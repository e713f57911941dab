"""An arm that is a training run: a recipe, what it changes of the model, and what is looked at when it has learnt."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clearformer.cost.kv_cache import kv_cache
from clearformer.cost.parameters import parameters
from clearformer.cost.work import Work
from clearformer.errors import RunError, TrainingError
from clearformer.lab.described import described
from clearformer.lab.experiment import Outcome, Points, Trial
from clearformer.lab.faults import Fault
from clearformer.messages import Message
from clearformer.messages.runs import IN_USE
from clearformer.model import Model
from clearformer.runs.folder import RunFolder
from clearformer.runs.state import newest_state
from clearformer.spec import Spec
from clearformer.spec.typed import write
from clearformer.tasks.registry import open_task
from clearformer.train.apart import looked_at
from clearformer.train.calibration import calibrate
from clearformer.train.computing import choose_for
from clearformer.train.events import Evaluated, Stepped
from clearformer.train.loop import Trainer
from clearformer.train.metrics import read_metrics
from clearformer.train.optimizer import Mover
from clearformer.train.plots import smoothed
from clearformer.train.recipe import Noam, Recipe, Watch
from clearformer.train.recipe_file import write_recipe
from clearformer.train.session import Session, new_model
from clearformer.train.task import Task

LEARNING = "learning"
"""The curve that every such trial gives: training loss, smoothed, over steps."""
_POINTS = 80
_TOLD_EVERY_S = 0.2
PATIENCE_S = 20.0
"""How long a process is given to save what it is at."""
Look = Callable[[Task[Any], Model], Outcome]


class Interrupted(Exception):  # noqa: N818 - a request, no error
    """A signal ended the trial; its state is saved."""


def unchanged(spec: Spec) -> Spec:
    """The spec as the recipe has it."""
    return spec


@dataclass(frozen=True, kw_only=True)
class TrainingArm:
    """`recipe` without its steps and seed; `rebuild` changes the spec that it gives, `fault` the model from outside.

    `warmup` is the share of the steps that warm up, where the schedule has such; None leaves the recipe's. `before` and
    `look` add figures and curves of the untrained and the trained model to those of the task's own `evaluate`; the
    trained one is handed over in evaluation mode.
    """

    name: str
    label: Message
    recipe: Recipe
    rebuild: Callable[[Spec], Spec] = unchanged
    fault: Fault | None = None
    before: Look | None = None
    look: Look | None = None
    warmup: float | None = 0.1

    def described(self) -> str:
        parts = [described(part) for part in (self.rebuild, self.fault, self.before, self.look)]
        return json.dumps([write(self.recipe), self.warmup, *parts], default=str)

    def facts(self, data: Path) -> dict[str, int]:
        spec = self._task(0, data).spec
        counted = parameters(spec)
        cached = kv_cache(spec, Work()).per_token.value
        return {"parameters": counted.total, "active_parameters": counted.active, "cache_bytes": cached}

    def step_seconds(self, trial: Trial, seconds: float) -> float:
        recipe, task = self._settled(trial), self._task(trial.seed, trial.data)
        model = new_model(task, recipe, self.fault)
        choices = choose_for(task, recipe, model, lambda note: None)
        return calibrate(task, recipe, model, Mover(model, recipe.optimizer), choices, seconds).update_s

    def measure(self, trial: Trial) -> Outcome:
        recipe, task = self._settled(trial), self._task(trial.seed, trial.data)
        run = RunFolder.create(trial.scratch, write_recipe(recipe), exists_ok=True)
        with _locked(run):
            resume = newest_state(run, lambda error: None) is not None
            trainer = Trainer(task, recipe, run, resume=resume, alter=self.fault)
            try:
                figures = _run(trainer, trial)
            except TrainingError:
                # What the loop refuses to go on with is a finding here, and no failure.
                return Outcome(diverged=True)
            after = Outcome() if self.look is None else self._looked(task, trainer.now)
        begun = Outcome() if self.before is None else self.before(task, new_model(task, recipe, self.fault))
        curves = {LEARNING: _learning(read_metrics(run.metrics_path)), **begun.curves, **after.curves}
        return finite(Outcome({**figures, **begun.figures, **after.figures}, curves))

    def _looked(self, task: Task[Any], now: Session) -> Outcome:
        assert self.look is not None
        with looked_at(now.twin, now.average.weights(now.model), now.choices):
            return self.look(task, now.twin)

    def _task(self, seed: int, data: Path) -> Task[Any]:
        """The recipe's task on data that all arms share which read the same, its spec rebuilt."""
        recipe = replace(self.recipe, seed=seed)
        read = [write(getattr(recipe, name, None)) for name in ("data", "tokenizer")]
        folder = data / hashlib.sha256(json.dumps([type(recipe).__name__, read], default=str).encode()).hexdigest()[:12]
        folder.mkdir(parents=True, exist_ok=True)
        task: Any = open_task(recipe, folder)
        found: Task[Any] = replace(task, spec=self.rebuild(task.spec))
        return found

    def _settled(self, trial: Trial) -> Recipe:
        """The recipe with the trial's steps, seed and threads; looked at once, at its end."""
        schedule = self.recipe.schedule
        if self.warmup is not None and hasattr(schedule, "warmup"):
            least = 1 if isinstance(schedule, Noam) else 0
            schedule = replace(schedule, warmup=max(least, round(self.warmup * trial.steps)))
        save = max(1, trial.steps // 4)
        return replace(
            self.recipe,
            seed=trial.seed,
            steps=trial.steps,
            budget=None,
            schedule=schedule,
            watch=Watch(evaluate=trial.steps, sample=trial.steps, save=save, keep="last"),
            compute=replace(self.recipe.compute, threads=trial.threads),
        )


@contextmanager
def _locked(run: RunFolder) -> Iterator[None]:
    """The trial's folder. One whose master was killed may still be saving there: it is given time to end."""
    ends, held = time.monotonic() + PATIENCE_S, ExitStack()
    while True:
        try:
            held.enter_context(run.lock())
            break
        except RunError as error:
            if error.failure is not IN_USE or time.monotonic() > ends:
                raise
            time.sleep(_TOLD_EVERY_S)
    with held:
        yield


def finite(outcome: Outcome) -> Outcome:
    """The outcome, or that it diverged where a figure is no number."""
    held = all(value is not None and math.isfinite(value) for value in outcome.figures.values())
    return outcome if held else Outcome(diverged=True)


def _run(trainer: Trainer, trial: Trial) -> Mapping[str, float]:
    """Train, and leave the loop with its one evaluation: nobody samples, draws or publishes what a trial learnt."""
    last = 0.0
    with closing(trainer.run()) as events:
        for event in events:
            match event:
                case Stepped() if time.monotonic() - last > _TOLD_EVERY_S:
                    last = time.monotonic()
                    trial.tell(event.step)
                case Evaluated():
                    return event.metrics
                case _:
                    pass
    # It ended before its last step, with a state that it goes on from.
    raise Interrupted


def _learning(records: Sequence[Mapping[str, Any]]) -> Points:
    """The training loss, smoothed, at about eighty steps."""
    steps = [record for record in records if record.get("loss") is not None]
    losses = smoothed([record["loss"] for record in steps])
    every = max(1, len(steps) // _POINTS)
    chosen = range(len(steps) - 1, -1, -every)[::-1]
    return [steps[at]["step"] for at in chosen], [losses[at] for at in chosen]
