"""How far a run is: all that the loop remembers between two steps beside tensors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from clearformer.train.recipe import Watch
from clearformer.train.task import Metric

PERIODS = 20
"""How often a run is evaluated, sampled and saved at most, where its recipe does not say."""
_LEAST_BETWEEN = 10


@dataclass
class Progress:
    """Steps made, and the step of the last evaluation, sample and save; the best value and where it was."""

    step: int = 0
    evaluated: int = 0
    sampled: int = 0
    saved: int = 0
    skipped: int = 0
    """Updates in a row that were not finite."""
    stale: int = 0
    """Evaluations in a row without a better one."""
    best: float | None = None
    best_step: int = 0

    def judge(self, metric: Metric, value: float) -> bool:
        """Take in an evaluation of the current step; True if none was better before."""
        better = math.isfinite(value) and metric.better(value, self.best)
        self.evaluated = self.step
        self.stale = 0 if better else self.stale + 1
        if better:
            self.best, self.best_step = value, self.step
        return better

    def facts(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Progress:
        return cls(**facts)


@dataclass(frozen=True)
class Plan:
    """At which steps of 1 … `steps` something is due; the last is always."""

    steps: int
    periods: int
    evaluate: int
    sample: int
    save: int

    @classmethod
    def of(cls, watch: Watch, steps: int, periods: int = PERIODS) -> Plan:
        """What the recipe leaves open is due `periods` times, and at least ten steps apart: a short run shall learn."""
        period = max(-(-steps // periods), min(_LEAST_BETWEEN, steps))
        return cls(steps, periods, watch.evaluate or period, watch.sample or period, watch.save or period)

    def due(self, every: int, step: int, done: int) -> bool:
        """Whether what is due every so many steps, and was done last at `done`, is due now."""
        return step > done and (step % every == 0 or step == self.steps)

    def evaluations_after(self, step: int) -> int:
        """How many are still to come."""
        return self._after(self.evaluate, step)

    def samples_after(self, step: int) -> int:
        """How many are still to come."""
        return self._after(self.sample, step)

    def _after(self, every: int, step: int) -> int:
        whole = self.steps // every - step // every
        return whole + (self.steps % every != 0 and step < self.steps)
