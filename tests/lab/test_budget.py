"""An experiment ends within its budget on a machine with a clock of our own, also where it was timed too fast."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from clearformer.errors import UsageError
from clearformer.lab.experiment import BUDGET_S, SEEDS, Experiment, Price
from clearformer.lab.experiments import TITLES, find
from clearformer.lab.notebook import Notebook
from clearformer.lab.report import Report
from clearformer.lab.running import Settings, run
from clearformer.lab.team import Order, Told
from lab.lab_trials import Constant, experiment

PRICES = {"cheap": Price(1.0, 0.01), "dear": Price(4.0, 0.08), "slow to judge": Price(9.0, 0.005)}
HIRING_S = 5.0


@dataclass
class Machine:
    """Workers that tell what they do in the order of a clock, and do nothing. `slow(at)` is how many times as long
    everything takes then; timing, by which is planned, finds `found` times the price."""

    prices: Mapping[str, Price]
    workers: int
    slow: Callable[[float], float] = lambda at: 1.0
    found: float = 1.0
    now: float = 0.0
    orders: list[Order] = field(default_factory=list)
    hired_times: int = 0

    def carry_out(self, orders: Sequence[Order], hear: Callable[[Order, Told], None]) -> None:
        begun = self.now
        free, events, number = [begun] * self.workers, list[tuple[float, int, Order, Told]](), itertools.count()
        for order in orders:
            start = heapq.heappop(free)
            end = start + self.slow(start) * self._takes(order)
            for share in (0.0, 0.25, 0.5, 0.75):
                told = {"step": round(share * order["steps"])}
                heapq.heappush(events, (start + share * (end - start), next(number), order, told))
            heapq.heappush(events, (end, next(number), order, self._answer(order)))
            heapq.heappush(free, end)
        while events:
            self.now, _, order, told = heapq.heappop(events)
            self.orders.append(order)
            hear(order, told)

    @contextmanager
    def hired(self, count: int) -> Iterator[Machine]:
        self.now += HIRING_S
        self.hired_times += 1
        yield self

    def _takes(self, order: Order) -> float:
        price = self.prices[order["arm"]]
        return price.of(order["steps"]) if order["seconds"] is None else order["seconds"] + 2 * price.of(1)

    def _answer(self, order: Order) -> Told:
        price = self.prices[order["arm"]]
        if order["seconds"] is not None:
            return {"price": {"fixed_s": self.found * price.fixed_s, "step_s": self.found * price.step_s}}
        return {"outcome": {"figures": {"loss": 1.0, "steps": float(order["steps"])}, "curves": {}, "diverged": False}}


def ran(folder: Path, chosen: Experiment, machine: Machine, budget: float | None = None) -> Report:
    notebook = Notebook(folder)
    settings = Settings(budget=budget, workers=machine.workers, begun=0.0, now=lambda: machine.now)
    with notebook.lock():
        return run(chosen, notebook, settings, machine.hired, lambda *_, **__: None, lambda *_: None)


@pytest.mark.parametrize("name", [name for name in TITLES if find(name).steps is None])
@pytest.mark.parametrize("found", [1.0, 0.85])
def test_every_experiment_ends_within_its_default_budget(name: str, found: float, tmp_path: Path) -> None:
    """As many arms and seeds as it has, each arm at another price, two workers or the one that may run alone."""
    built_in = find(name)
    prices = {arm.name: Price(2.0 + at, 0.02 * (1 + at)) for at, arm in enumerate(built_in.arms)}
    arms = tuple(Constant(arm.name, (1.0,) * SEEDS) for arm in built_in.arms)
    chosen = Experiment(
        name="toy", title=built_in.title, about=built_in.about, arms=arms, figure=experiment(arms[0]).figure
    )
    machine = Machine(prices, 1 if built_in.alone else 2, found=found)
    report = ran(tmp_path, chosen, machine)
    assert machine.hired_times == 1, "a slip of a seventh is not worth to begin again"
    assert 0.5 * BUDGET_S < machine.now < 0.98 * BUDGET_S
    assert {outcome.figures["steps"] for arm in report.arms for outcome in arm.outcomes} == {float(report.plan.steps)}


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("factor", [1.4, 2.0, 3.0])
def test_a_machine_that_is_slower_than_timed_begins_again_and_ends_in_time(
    factor: float, workers: int, tmp_path: Path
) -> None:
    arms = [Constant(name, (1.0,) * SEEDS) for name in PRICES]
    chosen = experiment(arms[0])
    chosen = Experiment(name="toy", title=chosen.title, about=chosen.about, arms=tuple(arms), figure=chosen.figure)
    machine = Machine(PRICES, workers, found=1 / factor)
    report = ran(tmp_path, chosen, machine, budget=400.0)
    assert machine.hired_times > 1
    assert machine.now < 400.0
    steps = {outcome.figures["steps"] for arm in report.arms for outcome in arm.outcomes}
    assert steps == {float(report.plan.steps)}, "no outcome of the first plan is left among them"
    assert all(len(arm.outcomes) == SEEDS for arm in report.arms)


def test_what_slows_down_late_goes_on_with_its_plan(tmp_path: Path) -> None:
    """Most of the work would be thrown away for less."""
    chosen = experiment(*(Constant(name, (1.0,) * SEEDS) for name in ("a", "b")))
    machine = Machine({"a": Price(1.0, 0.01), "b": Price(1.0, 0.01)}, 2, slow=lambda at: 1.0 if at < 60 else 4.0)
    report = ran(tmp_path, chosen, machine)
    assert machine.hired_times == 1
    assert report.plan.steps == machine.orders[-1]["steps"]


def test_a_machine_too_slow_for_any_plan_says_so_and_keeps_the_old_one(tmp_path: Path) -> None:
    chosen = experiment(*(Constant(name, (1.0,) * SEEDS) for name in ("a", "b")))
    prices = {"a": Price(1.0, 0.01), "b": Price(1.0, 0.01)}
    machine = Machine(prices, 2, slow=lambda at: 1.0 if at < 8 else 40.0)
    with pytest.raises(UsageError, match="180 s are too short"):
        ran(tmp_path, chosen, machine)
    plan = Notebook(tmp_path).plan()
    assert plan is not None
    later = Machine(prices, 2)
    assert ran(tmp_path, chosen, later).plan.steps == plan.steps
