"""How long an update and an evaluation take, timed in seconds and left without a trace."""

from __future__ import annotations

import time
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from clearformer.model import Model
from clearformer.speed.training import Choices, apply
from clearformer.train.apart import looked_at, untouched_randomness
from clearformer.train.average import Weights, copied, put
from clearformer.train.optimizer import Mover
from clearformer.train.pace import peak_memory
from clearformer.train.progress import PERIODS
from clearformer.train.recipe import Recipe, Watch
from clearformer.train.signals import EndAskedFor
from clearformer.train.step import gradient, to_device
from clearformer.train.task import Task

SECONDS = 10.0
_WATCHED = 0.2
"""The share of a budget that evaluating and sampling may take, where the recipe does not say how often."""
_WARM = 2


@dataclass(frozen=True)
class Timing:
    """Seconds that the first updates take beyond the others', of one update, of one whole evaluation, and of the
    samples that are shown with it; and the most memory, in bytes, that the process has held."""

    start_s: float
    update_s: float
    evaluation_s: float
    sample_s: float
    memory: int

    def periods_in(self, budget: float) -> int:
        """How often a run of `budget` seconds may be watched, from once to PERIODS times."""
        return min(max(int(_WATCHED * budget / max(self.evaluation_s + self.sample_s, 1e-9)), 1), PERIODS)

    def steps_in(self, budget: float, watch: Watch) -> int:
        """How many updates fit into `budget` seconds beside their evaluations and samples; at least 1."""
        left, an_update, periods = budget, self.update_s, self.periods_in(budget)
        for seconds, every in ((self.evaluation_s, watch.evaluate), (self.sample_s, watch.sample)):
            if every is None:
                left -= periods * seconds
            else:
                an_update += seconds / every
        return max(int(left / an_update), 1)


def calibrate(
    task: Task[Any], recipe: Recipe, model: Model, mover: Mover, choices: Choices, seconds: float = SECONDS
) -> Timing:
    """Time updates and evaluation for about `seconds`; weights, optimizer and random numbers are as before."""
    own, twin = copied(model), deepcopy(model)
    with untouched_randomness(), apply(model, choices):
        start_s, update_s = _time_updates(task, recipe, model, mover, seconds * 0.7)
    put(model, own)
    mover.forget()
    evaluation_s = _time_evaluation(task, twin, own, choices, seconds * 0.2)
    return Timing(start_s, update_s, evaluation_s, _time_samples(task, twin, own, choices), peak_memory())


def _time_updates(task: Task[Any], recipe: Recipe, model: Any, mover: Mover, seconds: float) -> tuple[float, float]:
    """The mean over as many updates as fit, after the first ones, in which memory, kernels and compilers settle."""
    batches = task.training()
    count, number = batches.count(0), 0
    made, begun, start_s = -_WARM, time.perf_counter(), 0.0
    while made < 1 or time.perf_counter() - begun < seconds:
        picked = [batches.batch(0, (number + i) % count) for i in range(recipe.accumulate)]
        number += recipe.accumulate
        gradient(task, model, [to_device(batch, recipe.compute.device) for batch in picked], recipe.clip)
        mover.step(0.0)
        mover.rest()
        made += 1
        if made == 0:
            start_s, begun = time.perf_counter() - begun, time.perf_counter()
    update_s = (time.perf_counter() - begun) / made
    return max(start_s - _WARM * update_s, 0.0), update_s


def _time_evaluation(task: Task[Any], twin: Model, weights: Weights, choices: Choices, seconds: float) -> float:
    """Begin one; if it is not done in time, reckon what is left at the pace of what was counted. What comes before the
    first count is done once and has no pace."""
    begun, left, counts = time.perf_counter(), 0.0, list[tuple[float, int]]()

    def watch(done: int, total: int) -> None:
        nonlocal left
        counts.append((time.perf_counter(), done))
        (first_at, first), (at, last) = counts[0], counts[-1]
        if at - begun > seconds and first < last < total:
            left = (at - first_at) / (last - first) * (total - last)
            raise EndAskedFor

    try:
        with looked_at(twin, weights, choices):
            task.evaluate(twin, progress=watch)
    except EndAskedFor:
        pass
    return time.perf_counter() - begun + left


def _time_samples(task: Task[Any], twin: Model, weights: Weights, choices: Choices) -> float:
    begun = time.perf_counter()
    with looked_at(twin, weights, choices):
        task.samples(twin)
    return time.perf_counter() - begun
