"""What a run has open: model, optimizer, data, metrics; fresh, or as a state left it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from clearformer.build import build
from clearformer.data.batches import Position
from clearformer.data.loader import Loader
from clearformer.machine import checked_device, use_threads
from clearformer.messages import train as say
from clearformer.model import Model
from clearformer.runs.folder import RunFolder
from clearformer.runs.state import State
from clearformer.speed.training import Choices
from clearformer.train.average import Averaging, make_average
from clearformer.train.calibration import SECONDS, calibrate
from clearformer.train.computing import choose_for
from clearformer.train.events import Event, Noted
from clearformer.train.metrics import MetricsFile
from clearformer.train.optimizer import Mover
from clearformer.train.pace import Pace
from clearformer.train.progress import PERIODS, Plan, Progress
from clearformer.train.recipe import Recipe
from clearformer.train.resume import find_state, gather, spread
from clearformer.train.task import Task

Alter = Callable[[Model], None]
"""What a laboratory does to a model that its spec does not say: a fault, put in from outside."""


@dataclass
class Session:
    """A run that is going on."""

    model: Model
    twin: Model
    """Its copy, in which other weights are looked at."""
    choices: Choices
    mover: Mover
    average: Averaging
    loader: Loader[Any]
    metrics: MetricsFile
    plan: Plan
    progress: Progress
    pace: Pace
    best: dict[str, Tensor]
    """The weights of the best evaluation so far; empty before the first."""

    def state(self) -> State:
        """All of it, the metrics put on the disk first: a state never knows more than they."""
        facts = {
            "progress": self.progress.facts(),
            "position": self.loader.position.facts(),
            "choices": self.choices.facts(),
            "steps": self.plan.steps,
            "periods": self.plan.periods,
            "metrics_bytes": self.metrics.sync(),
            "seconds": self.pace.seconds,
        }
        return State(self.progress.step, gather(self.model, self.mover, self.average, self.best), facts)

    def close(self) -> None:
        self.loader.close()
        self.metrics.close()


def open_session(
    task: Task[Any], recipe: Recipe, run: RunFolder, *, resume: bool, alter: Alter | None = None
) -> Generator[Event, None, Session]:
    """Yields what there is to say on the way."""
    state, notes = find_state(run, recipe, resume=resume)
    yield from notes
    facts = state.facts if state is not None else {}
    model = new_model(task, recipe, alter)
    mover, average = Mover(model, recipe.optimizer), make_average(recipe.average, model)
    if state is None:
        chosen: list[Noted] = []
        choices = choose_for(task, recipe, model, chosen.append)
        steps, periods = recipe.steps or 0, PERIODS
        if not steps:
            steps, periods = _reckoned(task, recipe, model, mover, choices, chosen.append)
        yield from chosen
    else:
        choices, steps, periods = Choices.of(facts["choices"]), facts["steps"], facts.get("periods", PERIODS)
        use_threads(choices.threads)
        yield Noted(say.RESUMED, {"step": state.step, "steps": steps})
    # From here on the run's own random numbers are drawn; what was measured before has drawn none of them.
    torch.manual_seed(recipe.seed)
    best = spread(run, state, model, mover, average) if state is not None else {}
    progress = Progress.of(facts["progress"]) if state is not None else Progress()
    progress.saved = progress.step
    metrics = MetricsFile(run.metrics_path, facts.get("metrics_bytes", 0))
    if metrics.lost:
        yield Noted(say.METRICS_LOST, {"path": run.metrics_path, "lost": metrics.lost}, warning=True)
    position = Position.of(facts["position"]) if state is not None else Position()
    loader = Loader(task.training(), workers=recipe.compute.workers, position=position)
    plan, pace = Plan.of(recipe.watch, steps, periods), Pace(facts.get("seconds", 0.0))
    return Session(model, deepcopy(model), choices, mover, average, loader, metrics, plan, progress, pace, best)


def new_model(task: Task[Any], recipe: Recipe, alter: Alter | None = None) -> Model:
    """The model as training begins, then changed in place by `alter`; the seed alone decides its weights."""
    use_threads(recipe.compute.threads)
    device = checked_device(recipe.compute.device)
    model = build(task.spec, device=device, generator=torch.Generator().manual_seed(recipe.seed))
    if alter is not None:
        alter(model)
    return model


def _reckoned(
    task: Task[Any], recipe: Recipe, model: Model, mover: Mover, choices: Choices, note: Callable[[Noted], None]
) -> tuple[int, int]:
    """As many steps as the budget allows, at this machine's measured pace, and how often they are watched."""
    assert recipe.budget is not None
    timing = calibrate(task, recipe, model, mover, choices, min(SECONDS, recipe.budget / 10))
    steps = timing.steps_in(recipe.budget, recipe.watch)
    figures = {"update_ms": timing.update_s * 1e3, "evaluation_s": timing.evaluation_s}
    note(Noted(say.STEPS_RECKONED, {"budget": recipe.budget, "steps": steps, **figures}))
    return steps, timing.periods_in(recipe.budget)
