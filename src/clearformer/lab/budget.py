"""The seconds of a whole experiment as equally many steps for every arm."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from clearformer.errors import UsageError
from clearformer.lab.experiment import Price
from clearformer.messages import lab_machine as say

SPENT_SHARE = 0.92
"""How much of what is left is planned for: a machine is never quite as fast as when it was timed."""
CALIBRATION_SHARE = 0.02
"""Seconds an arm is timed for, as a share of the budget."""


def steps_within(budget: float, spent: float, prices: Mapping[str, Price], seeds: int, workers: int) -> int:
    """The most steps a trial with which all trials end in time. Raises UsageError where not one step fits."""

    def ends(steps: int) -> float:
        return makespan([price.of(steps) for _ in range(seeds) for price in prices.values()], workers)

    available = (budget - spent) * SPENT_SHARE
    if ends(1) > available:
        least = spent + ends(1) / SPENT_SHARE
        trials = seeds * len(prices)
        raise UsageError(say.BUDGET_TOO_SHORT, budget=budget, trials=trials, seeds=seeds, least=_rounded_up(least))
    low, high = 1, 2
    while ends(high) <= available:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if ends(middle) <= available else (low, middle)
    return low


def makespan(durations: Sequence[float], workers: int) -> float:
    """When the last of these ends, if each is begun in turn by whoever is free first."""
    free = [0.0] * workers
    for duration in durations:
        heapq.heapreplace(free, free[0] + duration)
    return max(free)


def _rounded_up(seconds: float) -> int:
    """To whole tens of seconds, with a tenth to spare: what the next call will measure is not quite the same."""
    return 10 * (int(seconds * 1.1) // 10 + 1)
