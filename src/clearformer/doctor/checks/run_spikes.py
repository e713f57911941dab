"""R02: a loss stays finite, does not leap, and ends lower than it has been."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import median

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.course import Course
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.messages import doctor_runs as say

FEWEST = 20
_BEFORE = 20
"""Losses that a leap is measured by."""
_DEVIATIONS, _SHARE = 10.0, 0.3
_DIVERGED = 1.5


def leaps(course: Course) -> Iterator[Breach]:
    """Breaches of the law in a run, ended or under way. Raises NotApplicable for one that is too short."""
    lost = [each.step for each in course.updates if each.loss is not None and not math.isfinite(each.loss)]
    if lost:
        said = Said(say.NOT_FINITE, {"count": len(lost), "first": lost[0]})
        yield Breach("R02", "ERROR", (said,), ("loss not finite", "gradient explodes", "training diverged"))
    steps, losses = course.losses()
    if len(losses) < FEWEST:
        if lost:
            return
        raise NotApplicable(say.TOO_SHORT, found=len(losses), fewest=FEWEST, steps=FEWEST)
    part = max(3, len(losses) // 20)
    lowest = min(median(losses[at : at + part]) for at in range(0, len(losses) - part + 1, part))
    last = median(losses[-part:])
    if last > 0 and last > _DIVERGED * lowest and last - lowest > 0.5:
        said = Said(say.DIVERGED, {"last": last, "lowest": lowest})
        yield Breach("R02", "ERROR", (said,), ("training diverged", "gradient explodes"))
        return
    if found := _spikes(losses):
        largest = max(found, key=lambda at: losses[at])
        values = {"count": len(found), "step": steps[largest], "loss": losses[largest]}
        values["before"] = median(losses[max(0, largest - _BEFORE) : largest])
        yield Breach("R02", "WARN", (Said(say.SPIKES, values),), ("loss spike", "gradient explodes"))


def _spikes(losses: list[float]) -> list[int]:
    """Places where the loss leaps off what went before, further than it usually strays and by a share of its size."""
    found = []
    for at in range(_BEFORE, len(losses)):
        before = losses[at - _BEFORE : at]
        middle = median(before)
        strays = 1.4826 * median(abs(value - middle) for value in before)
        if losses[at] - middle > max(_DEVIATIONS * strays, _SHARE * abs(middle)):
            found.append(at)
    return found


def _probe(examination: Examination) -> Iterator[Breach]:
    yield from leaps(examination.course())


RUN_SPIKES = Check("R02", "no spikes", say.STEADY, say.STEADY_RISK, _probe, needs=("folder",))
