"""The loop: next batches → loss → backward → clip → step → log → evaluate → save.

It yields what happens and prints nothing; it knows no task, and nothing of how the run computes.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any

from clearformer import machine
from clearformer.errors import TrainingError
from clearformer.messages import train as say
from clearformer.runs.folder import RunFolder
from clearformer.runs.state import save_state
from clearformer.speed.kept_memory import kept_memory
from clearformer.speed.training import apply
from clearformer.store.places import home
from clearformer.train.apart import looked_at, untouched_randomness
from clearformer.train.events import Evaluated, Event, Noted, Sampled, Saved, Stepped, Stopped
from clearformer.train.pace import flops_a_unit, peak_flops, peak_memory
from clearformer.train.plots import draw_plots
from clearformer.train.recipe import Recipe
from clearformer.train.recipe_checks import check_length, check_recipe
from clearformer.train.schedule import model_width, rate
from clearformer.train.session import Alter, Session, open_session
from clearformer.train.signals import Asked, EndAskedFor, listening, unheard
from clearformer.train.step import Gradient, all_finite, gradient, to_device
from clearformer.train.task import Task

MOST_SKIPPED = 3
"""Updates in a row that are not finite, after which a run stops."""
_MEASURED_AT, _WORTH_MEASURING_S = 10, 60.0


class Trainer:
    """One run of a recipe, in a run folder whose lock the caller holds; `alter` changes the model before it learns."""

    now: Session
    learnt: Any = None
    """A batch of the last update that was made."""

    def __init__(
        self, task: Task[Any], recipe: Recipe, run: RunFolder, *, resume: bool = False, alter: Alter | None = None
    ) -> None:
        check_recipe(recipe)
        check_length(recipe)
        self.alter = alter
        self.task, self.recipe, self.folder, self.resume = task, recipe, run, resume
        self.width = model_width(task.spec)

    def run(self) -> Generator[Event, None, None]:
        """Train to the end, or until a signal asks for it; the last event is Stopped.

        Raises TrainingError after MOST_SKIPPED updates in a row that are not finite, RunError for a folder that this
        recipe cannot go on in, CheckpointError for a state that cannot be written.
        """
        with listening() as asked, kept_memory(self.recipe.compute.device):
            opening = open_session(self.task, self.recipe, self.folder, resume=self.resume, alter=self.alter)
            self.now = yield from opening
            with closing(self.now), apply(self.now.model, self.now.choices) as model:
                yield from self._look(asked)
                while (reason := self._reason(asked)) is None:
                    self.now.pace.start()
                    batches = [self._next() for _ in range(self.recipe.accumulate)]
                    found = gradient(self.task, model, batches, self.recipe.clip)
                    self.learnt = batches[0] if found.finite else self.learnt
                    yield from self._step(found)
                    yield from self._look(asked)
                yield from self._finish(reason)

    def _next(self) -> Any:
        """The next batch. Worker processes, where some are started, neither draw training's random numbers nor hear
        the signals that end a run."""
        with untouched_randomness(), unheard():
            return to_device(next(self.now.loader), self.recipe.compute.device)

    def _step(self, found: Gradient) -> Iterator[Event]:
        """Move the weights along a gradient, unless it is not finite; write it down either way."""
        now, progress = self.now, self.now.progress
        progress.step += 1
        factor = rate(self.recipe.schedule, progress.step, now.plan.steps, self.width)
        if found.finite:
            now.mover.step(factor)
            now.average.stepped(now.model, progress.step)
        progress.skipped = 0 if found.finite else progress.skipped + 1
        now.mover.rest()
        now.pace.updated(found.units)
        lr = now.mover.rate * factor
        self._write(loss=found.loss, lr=lr, grad_norm=found.norm, units=found.units, skipped=not found.finite)
        if not found.finite:
            values = {"step": progress.step, "loss": found.loss, "norm": found.norm, "count": progress.skipped}
            if progress.skipped == MOST_SKIPPED:
                raise TrainingError(say.NOT_FINITE, **values, lr=self.recipe.optimizer.lr)
            yield Noted(say.SKIPPED, {**values, "most": MOST_SKIPPED}, warning=True)
        elif progress.step % self.recipe.watch.log == 0 or progress.step == now.plan.steps:
            yield self._stepped(found, lr)
        if now.pace.updates == _MEASURED_AT:
            self._measure_peak()

    def _look(self, asked: Asked) -> Iterator[Event]:
        """Evaluate, sample and save, each where it is due and not done; a resumed run makes up for what it owes."""
        now, progress = self.now, self.now.progress
        evaluates = now.plan.due(now.plan.evaluate, progress.step, progress.evaluated)
        if evaluates or now.plan.due(now.plan.sample, progress.step, progress.sampled):
            self._require_sound()
        if evaluates:
            yield from self._evaluate(asked)
        if now.plan.due(now.plan.sample, progress.step, progress.sampled) and asked.reason is None:
            with looked_at(now.twin, now.average.weights(now.model), now.choices):
                samples = self.task.samples(now.twin)
            progress.sampled = progress.step
            yield Sampled(progress.step, samples)
        if now.plan.due(now.plan.save, progress.step, progress.saved):
            yield self._save()

    def _require_sound(self) -> None:
        """Raises TrainingError where the loss of a batch just learnt is no number any more: what such a model says
        means nothing, and some of it would end in an error elsewhere."""
        if self.learnt is None:
            return
        now, asked = self.now, self.recipe.optimizer
        with looked_at(now.twin, now.average.weights(now.model), now.choices):
            loss = self.task.loss(now.twin, self.learnt).total.item()
        if not math.isfinite(loss):
            lower = min(asked.lr / 10, type(asked)().lr)
            raise TrainingError(say.DIVERGED, step=now.progress.step, loss=loss, lr=asked.lr, lower=f"{lower:.0e}")

    def _evaluate(self, asked: Asked) -> Iterator[Event]:
        """Judge the averaged weights and keep the best; a signal leaves it undone, and undone it is saved."""
        now, progress = self.now, self.now.progress

        def watch(done: int, total: int) -> None:
            if asked.reason is not None:
                raise EndAskedFor

        now.pace.start()
        weights = now.average.weights(now.model)
        try:
            watch(0, 1)
            with looked_at(now.twin, weights, now.choices):
                figures = self.task.evaluate(now.twin, progress=watch)
        except EndAskedFor:
            return
        now.average.evaluated(now.model)
        now.pace.evaluated()
        better = progress.judge(self.task.metric, figures[self.task.metric.name])
        if better and self.recipe.watch.keep == "best":
            now.best = weights
        self._write(evaluation=figures, best=better)
        yield Evaluated(progress.step, figures, better)

    def _save(self) -> Saved:
        now, progress = self.now, self.now.progress
        if not all_finite(now.model.parameters()):
            raise TrainingError(say.WEIGHTS_NOT_FINITE, step=progress.step)
        path = save_state(self.folder, now.state())
        progress.saved = progress.step
        return Saved(progress.step, path)

    def _finish(self, reason: Any) -> Iterator[Event]:
        """Save what is not, publish the best weights, draw the plots."""
        now, progress = self.now, self.now.progress
        if progress.saved < progress.step:
            yield self._save()
        now.metrics.sync()
        published = self.task.published()
        weights = now.best or now.average.weights(now.model)
        self.folder.publish(self.task.spec, weights, published.files, published.generation, published.labels)
        draw_plots(self.folder.metrics_path, self.folder.plots_path, self.task.metric.name)
        yield Stopped(progress.step, reason)

    def _reason(self, asked: Asked) -> Any:
        """Why to stop now, if at all."""
        now, patience = self.now, self.recipe.watch.patience
        if now.progress.evaluated == now.plan.steps:
            return "done"
        if patience is not None and now.progress.stale >= patience:
            return "patience"
        return asked.reason

    def _stepped(self, found: Gradient, lr: float) -> Stepped:
        now, step = self.now, self.now.progress.step
        left = now.pace.left(now.plan.steps - step, now.plan.evaluations_after(step))
        speed, mfu = now.pace.units_per_s, now.pace.mfu
        return Stepped(
            step, now.plan.steps, found.loss, lr, found.norm, found.units, speed, mfu, peak_memory(), eta_s=left
        )

    def _measure_peak(self) -> None:
        """What the share of the peak needs, under this run's own kernels; in a short run it would cost too much."""
        now = self.now
        if now.pace.left(now.plan.steps - now.progress.step, 0) > _WORTH_MEASURING_S:
            batch = to_device(self.task.training().batch(0, 0), self.recipe.compute.device)
            now.pace.flops_per_unit = flops_a_unit(self.task, now.twin, batch)
            now.pace.peak = peak_flops(machine.known(home()), now.choices.dtype)

    def _write(self, **record: object) -> None:
        now = self.now
        times = {"seconds": now.pace.seconds, "units_per_s": now.pace.units_per_s, "mfu": now.pace.mfu}
        now.metrics.write({"step": now.progress.step, **record, **times, "memory": peak_memory()})
