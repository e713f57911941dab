"""The seconds of a whole experiment as equally many steps for every arm; fewer where a machine proves slower."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic

from clearformer.errors import UsageError
from clearformer.lab.experiment import Price
from clearformer.messages import lab_machine as say

AIM = 0.8
"""The share of a budget within which all is to end: the rest is for the picture, and for a machine that is not quite
as fast as when it was timed."""
CALIBRATION_SHARE = 0.02
"""Seconds an arm is timed for, as a share of the budget."""
_LEAST_TIMED_S, _MOST_TIMED_S = 0.3, 10.0


@dataclass(frozen=True)
class Budget:
    """Seconds for the whole, from `begun` on by the clock `now`."""

    seconds: float
    begun: float
    now: Callable[[], float] = monotonic

    @property
    def spent(self) -> float:
        return self.now() - self.begun

    @property
    def timed_s(self) -> float:
        """How long each arm is timed for."""
        return min(max(self.seconds * CALIBRATION_SHARE, _LEAST_TIMED_S), _MOST_TIMED_S)


class Slower(Exception):  # noqa: N818 - a finding, no error
    """A trial takes `factor` times as long as it was planned to, and not all would end within the budget."""

    def __init__(self, factor: float) -> None:
        super().__init__(factor)
        self.factor = factor


@dataclass
class Pace:
    """Watches the first trial of each arm. `prices` and `steps` are the plan's, `count` trials are to end in time."""

    budget: Budget
    prices: Mapping[str, Price]
    steps: int
    seeds: int
    workers: int
    _begun: dict[str, float] = field(default_factory=dict)
    _spent: float | None = None

    def hear(self, arm: str, step: int, *, ended: bool) -> None:
        """So many steps are made. Raises Slower where all is thrown away more cheaply than ended too late."""
        now, price = self.budget.now(), self.prices[arm]
        if self._spent is None:
            self._spent = self.budget.spent
        taken = now - self._begun.setdefault(arm, now)
        if not ended and taken <= price.of(self.steps):
            return
        factor = taken / price.of(self.steps if ended else step)
        whole = _ends(self.prices, self.steps, self.seeds, self.workers)
        if self._spent + factor * whole > self.budget.seconds:
            raise Slower(factor)


def steps_within(budget: Budget, prices: Mapping[str, Price], seeds: int, workers: int) -> int:
    """The most steps a trial with which all trials end in time. Raises UsageError where not one step fits."""

    def ends(steps: int) -> float:
        return _ends(prices, steps, seeds, workers)

    spent = budget.spent
    available = budget.seconds * AIM - spent
    if ends(1) > available:
        least, trials = _rounded_up((spent + ends(1)) / AIM), seeds * len(prices)
        fewer = say.OR_FEWER_SEEDS if seeds > 1 else say.NO_FEWER_SEEDS
        raise UsageError(
            say.BUDGET_TOO_SHORT, budget=budget.seconds, trials=trials, seeds=seeds, least=least, or_=fewer
        )
    low, high = 1, 2
    while ends(high) <= available:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if ends(middle) <= available else (low, middle)
    return low


def slowed(prices: Mapping[str, Price], factor: float) -> dict[str, Price]:
    """What trials cost on a machine so many times as slow."""
    return {arm: Price(price.fixed_s * factor, price.step_s * factor) for arm, price in prices.items()}


def makespan(durations: Sequence[float], workers: int) -> float:
    """When the last of these ends, if each is begun in turn by whoever is free first."""
    free = [0.0] * workers
    for duration in durations:
        heapq.heapreplace(free, free[0] + duration)
    return max(free)


def _ends(prices: Mapping[str, Price], steps: int, seeds: int, workers: int) -> float:
    return makespan([price.of(steps) for _ in range(seeds) for price in prices.values()], workers)


def _rounded_up(seconds: float) -> int:
    """To whole tens of seconds, with a tenth to spare: what the next call will measure is not quite the same."""
    return 10 * (int(seconds * 1.1) // 10 + 1)
