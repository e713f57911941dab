"""A run to be killed: it trains in a process of its own and tells each event over a pipe."""

from __future__ import annotations

import multiprocessing
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

from clearformer.runs.folder import RunFolder
from clearformer.train.loop import Trainer
from clearformer.train.recipe import Watch
from clearformer.train.recipe_file import write_recipe
from learning.tiny import CountingRecipe, CountingTask, small_recipe

STEPS = 60


def recipe(workers: int) -> CountingRecipe:
    """Two batches an update and five an epoch: updates straddle epochs, and every save lies inside one."""
    plain = small_recipe(steps=STEPS, accumulate=2, watch=Watch(evaluate=20, sample=30, save=3))
    return replace(plain, compute=replace(plain.compute, workers=workers))


def train(path: Path, workers: int, tell: Connection) -> None:
    """Begin the run, or go on with it; each event is told as (kind, step, why it stopped)."""
    # Data workers are to be forks of this process, as they are of one that a user starts.
    multiprocessing.set_start_method("fork", force=True)
    resume = path.exists()
    chosen = recipe(workers)
    run = RunFolder.open(path) if resume else RunFolder.create(path, write_recipe(chosen))
    with run.lock():
        for event in Trainer(CountingTask(), chosen, run, resume=resume).run():
            tell.send((type(event).__name__, getattr(event, "step", 0), getattr(event, "reason", "")))
