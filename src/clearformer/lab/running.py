"""An experiment from beginning to end: checked, timed, planned, run over processes, and reported; or gone on with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from time import monotonic
from typing import Protocol

from clearformer.errors import RunError, UsageError
from clearformer.lab.budget import Budget, Pace, Slower, slowed, steps_within
from clearformer.lab.experiment import Experiment, Outcome, Price
from clearformer.lab.notebook import Notebook, Plan, described
from clearformer.lab.reading_arm import ReadingArm
from clearformer.lab.report import Report, report_of
from clearformer.lab.team import Order, Told, order_of
from clearformer.machine import cores
from clearformer.messages import Message
from clearformer.messages import lab_machine as say

MOST_SEEDS = 100


class Crew(Protocol):
    """Whoever carries out orders, as `team.Team` does."""

    def carry_out(self, orders: Sequence[Order], hear: Callable[[Order, Told], None]) -> None: ...


Advance = Callable[[int, int], None]
Note = Callable[..., None]


@dataclass(frozen=True)
class Settings:
    """How an experiment is run; None is its own or the machine's. The budget runs from `begun` on, by the clock `now`;
    None is when `run` is called."""

    seeds: int | None = None
    budget: float | None = None
    workers: int | None = None
    begun: float | None = None
    now: Callable[[], float] = monotonic


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
    begun = settings.now() if settings.begun is None else settings.begun
    workers, plan = _workers(experiment, settings), notebook.plan()
    seeds = settings.seeds
    if seeds is None:
        seeds = plan.seeds if plan is not None else experiment.seeds
    reading = [arm for arm in experiment.arms if isinstance(arm, ReadingArm)]
    most = min([MOST_SEEDS, *(len(arm.sentences) for arm in reading)])
    if not 1 <= seeds <= most:
        raise UsageError(say.BAD_SEEDS, most=most, found=seeds)
    if settings.budget is not None and len(reading) == len(experiment.arms):
        raise UsageError(say.NO_STEPS, name=experiment.name)
    if plan is not None:
        require_same(plan, experiment, settings, notebook)
    seconds = experiment.budget if settings.budget is None else settings.budget
    fixed = experiment.steps if settings.budget is None else None
    course = _Course(experiment, notebook, Budget(seconds, begun, settings.now), seeds, workers, fixed, note, advance)
    plan = course.run(plan, hire)
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
        values = {"kept": plan.budget, "asked": settings.budget, "steps": say.steps_of(plan.steps)}
        raise RunError(say.OTHER_BUDGET, path=notebook.path, **values)


@dataclass(frozen=True)
class _Course:
    """All trials of an experiment. `fixed` are the steps where no budget decides them."""

    experiment: Experiment
    notebook: Notebook
    budget: Budget
    seeds: int
    workers: int
    fixed: int | None
    note: Note
    advance: Advance

    def run(self, plan: Plan | None, hire: Callable[[int], AbstractContextManager[Crew]]) -> Plan:
        """Plan where nothing is planned yet, and run what is left; planned anew if the machine proves slower."""
        count = self.seeds * len(self.experiment.arms)
        lacking = None if plan is None else left(self.experiment, self.notebook, self.seeds)
        if lacking and len(lacking) < count:
            self.note(say.GOING_ON, done=count - len(lacking), count=count)
        pace: Pace | None = None
        while plan is None or left(self.experiment, self.notebook, self.seeds):
            try:
                with hire(min(self.workers, count)) as crew:
                    if plan is None:
                        plan = self._planned(crew)
                        pace = self._pace(plan)
                    self._carry_out(plan, crew, pace)
            except Slower as slower:
                assert plan is not None
                plan = self._planned_anew(plan, slower.factor)
                pace = self._pace(plan)
        return plan

    def _planned(self, crew: Crew) -> Plan:
        """Check what the arms promise, time each, and settle how many steps all of them make."""
        experiment, notebook = self.experiment, self.notebook
        facts = {arm.name: dict(arm.facts(notebook.data)) for arm in experiment.arms}
        require_equal(experiment, facts)
        threads = max(1, cores() // self.workers)
        prices: dict[str, Price] = {}
        steps = self.fixed
        if steps is None:
            self.note(say.TIMING)
            orders = [order_of(notebook, arm.name, 0, 1, threads, self.budget.timed_s) for arm in experiment.arms]
            crew.carry_out(orders, lambda order, told: _price(prices, order, told))
            steps = steps_within(self.budget, prices, self.seeds, self.workers)
            self._tell(say.PLANNED, steps)
        plan = Plan(
            experiment.name, described(experiment), self.seeds, self.budget.seconds, steps, threads, prices, facts
        )
        notebook.keep_plan(plan)
        return plan

    def _planned_anew(self, plan: Plan, factor: float) -> Plan:
        """Fewer steps for what is left of the budget; the trials of the old plan do not compare, and go."""
        prices = slowed(plan.prices, factor)
        plan = replace(plan, prices=prices, steps=steps_within(self.budget, prices, self.seeds, self.workers))
        self.notebook.start_over(plan)
        self._tell(say.PLANNED_ANEW, plan.steps)
        return plan

    def _tell(self, what: Message, steps: int) -> None:
        counts = {"arms": say.arms_of(len(self.experiment.arms)), "seeds": say.seeds_of(self.seeds)}
        self.note(what, budget=self.budget.seconds, steps=say.steps_of(steps), **counts)

    def _pace(self, plan: Plan) -> Pace | None:
        return Pace(self.budget, plan.prices, plan.steps, self.seeds, self.workers) if plan.prices else None

    def _carry_out(self, plan: Plan, crew: Crew, pace: Pace | None) -> None:
        """Run the trials that are left, each outcome kept as it comes."""
        trials = left(self.experiment, self.notebook, self.seeds)
        made = dict.fromkeys(trials, 0)
        count = self.seeds * len(self.experiment.arms)
        done = (count - len(trials)) * plan.steps

        def hear(order: Order, told: Told) -> None:
            trial = order["arm"], order["seed"]
            ended = "outcome" in told
            if ended:
                self.notebook.keep(*trial, Outcome(**told["outcome"]))
            made[trial] = told.get("step", plan.steps)
            if pace is not None and order["seed"] == 0:
                pace.hear(order["arm"], made[trial], ended=ended)
            self.advance(done + sum(made.values()), count * plan.steps)

        self.advance(done, count * plan.steps)
        crew.carry_out([order_of(self.notebook, arm, seed, plan.steps, plan.threads) for arm, seed in trials], hear)


def _price(prices: dict[str, Price], order: Order, told: Told) -> None:
    if "price" in told:
        prices[order["arm"]] = Price(**told["price"])


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
