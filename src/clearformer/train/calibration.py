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
_WARM = 2


@dataclass(frozen=True)
class Timing:
    """Seconds that the first updates take beyond the others', of one update, and of one whole evaluation; and the most
    memory, in bytes, that the process has held."""

    start_s: float
    update_s: float
    evaluation_s: float
    memory: int

    def steps_in(self, budget: float, watch: Watch) -> int:
        """How many updates fit into `budget` seconds beside their evaluations; at least 1."""
        if watch.evaluate is not None:
            return max(int(budget / (self.update_s + self.evaluation_s / watch.evaluate)), 1)
        return max(int((budget - PERIODS * self.evaluation_s) / self.update_s), 1)


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
    return Timing(start_s, update_s, evaluation_s, peak_memory())


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
    """Begin one; if it is not done in time, reckon from the share that is."""
    begun, share = time.perf_counter(), 1.0

    def watch(done: int, total: int) -> None:
        nonlocal share
        share = done / max(total, 1)
        if time.perf_counter() - begun > seconds and done < total:
            raise EndAskedFor

    try:
        with looked_at(twin, weights, choices):
            task.evaluate(twin, progress=watch)
        share = 1.0
    except EndAskedFor:
        pass
    return (time.perf_counter() - begun) / max(share, 1e-3)
