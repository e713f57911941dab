"""An experiment from beginning to end: checked, timed, planned, run over processes, and reported; or gone on with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from time import monotonic
from typing import Protocol

from clearformer.errors import RunError, UsageError
from clearformer.lab.budget import CALIBRATION_SHARE, steps_within
from clearformer.lab.experiment import Experiment, Outcome, Price
from clearformer.lab.notebook import Notebook, Plan, described
from clearformer.lab.report import Report, report_of
from clearformer.lab.team import Order, Told, order_of
from clearformer.machine import cores
from clearformer.messages import lab_machine as say

MOST_SEEDS = 100
_LEAST_TIMED_S, _MOST_TIMED_S = 0.3, 10.0


class Crew(Protocol):
    """Whoever carries out orders, as `team.Team` does."""

    def carry_out(self, orders: Sequence[Order], hear: Callable[[Order, Told], None]) -> None: ...


Advance = Callable[[int, int], None]
Note = Callable[..., None]


@dataclass(frozen=True)
class Settings:
    """How an experiment is run; None is its own or the machine's."""

    seeds: int | None = None
    budget: float | None = None
    workers: int | None = None


def run(
    experiment: Experiment,
    notebook: Notebook,
    settings: Settings,
    hire: Callable[[int], AbstractContextManager[Crew]],
    note: Note,
    advance: Advance,
) -> Report:
    """Run what has not been run yet, in a folder whose lock the caller holds; `advance` counts steps over all trials.

    `hire` gives so many workers for the time of its context.

    Raises UsageError for settings that do not go, arms that break a promise and a budget that holds no trial, RunError
    for a folder of another experiment, and what the arms raise.
    """
    begun, workers, plan = monotonic(), _workers(experiment, settings), notebook.plan()
    seeds = settings.seeds
    if seeds is None:
        seeds = plan.seeds if plan is not None else experiment.seeds
    if not 1 <= seeds <= MOST_SEEDS:
        raise UsageError(say.BAD_SEEDS, most=MOST_SEEDS, found=seeds)
    if plan is not None:
        require_same(plan, experiment, settings, notebook)
    lacking = [] if plan is None else left(experiment, notebook, seeds)
    count = len(experiment.arms) * seeds
    if plan is None or lacking:
        with hire(min(workers, count)) as crew:
            if plan is None:
                plan = _planned(experiment, notebook, settings, seeds, crew, workers, begun, note)
                lacking = left(experiment, notebook, seeds)
            elif len(lacking) < count:
                note(say.GOING_ON, done=count - len(lacking), count=count)
            _carry_out(lacking, plan, notebook, crew, advance, count)
    notebook.tidy()
    outcomes = {arm.name: [_kept(notebook, arm.name, seed) for seed in range(seeds)] for arm in experiment.arms}
    return report_of(experiment, plan, outcomes)


def left(experiment: Experiment, notebook: Notebook, seeds: int) -> list[tuple[str, int]]:
    """Trials without an outcome, arm after arm within a seed: whatever is cut off, whole seeds compare."""
    every = [(arm.name, seed) for seed in range(seeds) for arm in experiment.arms]
    return [(arm, seed) for arm, seed in every if notebook.outcome(arm, seed) is None]


def require_equal(experiment: Experiment, facts: Mapping[str, Mapping[str, int]]) -> None:
    """Raises UsageError, with both figures, where arms differ in what they promise to share."""
    first = experiment.arms[0].name
    for name in experiment.equal:
        for arm in experiment.arms:
            one, other = facts[first][name], facts[arm.name][name]
            if one != other:
                what = say.FACTS[name]
                raise UsageError(say.NOT_EQUAL, what=what, first=first, expected=one, arm=arm.name, found=other)


def require_same(plan: Plan, experiment: Experiment, settings: Settings, notebook: Notebook) -> None:
    """Raises RunError where the folder's trials would not compare with those asked for."""
    if (plan.experiment, plan.arms) != (experiment.name, described(experiment)):
        raise RunError(say.OTHER_EXPERIMENT, path=notebook.path, kept=plan.experiment, asked=experiment.name)
    if settings.budget is not None and settings.budget != plan.budget:
        values = {"kept": plan.budget, "asked": settings.budget, "steps": plan.steps}
        raise RunError(say.OTHER_BUDGET, path=notebook.path, **values)


def _planned(
    experiment: Experiment,
    notebook: Notebook,
    settings: Settings,
    seeds: int,
    crew: Crew,
    workers: int,
    begun: float,
    note: Note,
) -> Plan:
    """Check what the arms promise, time each, and settle how many steps all of them make."""
    facts = {arm.name: dict(arm.facts(notebook.data)) for arm in experiment.arms}
    require_equal(experiment, facts)
    threads = max(1, cores() // workers)
    budget = experiment.budget if settings.budget is None else settings.budget
    prices: dict[str, Price] = {}
    steps = experiment.steps if settings.budget is None else None
    if steps is None:
        note(say.TIMING)
        seconds = min(max(budget * CALIBRATION_SHARE, _LEAST_TIMED_S), _MOST_TIMED_S)
        orders = [order_of(notebook, arm.name, 0, 1, threads, seconds) for arm in experiment.arms]
        crew.carry_out(orders, lambda order, told: _price(prices, order, told))
        steps = steps_within(budget, monotonic() - begun, prices, seeds, workers)
        note(say.PLANNED, budget=budget, steps=steps, arms=len(experiment.arms), seeds=seeds)
    plan = Plan(experiment.name, described(experiment), seeds, budget, steps, threads, prices, facts)
    notebook.keep_plan(plan)
    return plan


def _price(prices: dict[str, Price], order: Order, told: Told) -> None:
    if "price" in told:
        prices[order["arm"]] = Price(**told["price"])


def _carry_out(
    trials: Sequence[tuple[str, int]], plan: Plan, notebook: Notebook, crew: Crew, advance: Advance, count: int
) -> None:
    """Run the trials, each outcome kept as it comes."""
    made = dict.fromkeys(trials, 0)
    done = (count - len(trials)) * plan.steps

    def hear(order: Order, told: Told) -> None:
        trial = order["arm"], order["seed"]
        if "outcome" in told:
            notebook.keep(*trial, Outcome(**told["outcome"]))
        made[trial] = told.get("step", plan.steps)
        advance(done + sum(made.values()), count * plan.steps)

    advance(done, count * plan.steps)
    crew.carry_out([order_of(notebook, arm, seed, plan.steps, plan.threads) for arm, seed in trials], hear)


def _kept(notebook: Notebook, arm: str, seed: int) -> Outcome:
    found = notebook.outcome(arm, seed)
    assert found is not None
    return found


def _workers(experiment: Experiment, settings: Settings) -> int:
    """One a core; one in all where the experiment needs the machine alone."""
    if settings.workers is not None and settings.workers < 1:
        raise UsageError(say.BAD_WORKERS, found=settings.workers)
    if experiment.alone:
        if settings.workers not in (None, 1):
            raise UsageError(say.ALONE, name=experiment.name, found=settings.workers)
        return 1
    return settings.workers or cores()
