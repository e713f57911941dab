"""R03: the learning rate is above zero while steps remain."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.course import Course
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.messages import doctor_runs as say

FEWEST = 5
_TAIL = 0.05
"""A plan may end at zero: of the run's updates, so large a share at its end."""


def idle(course: Course) -> Iterator[Breach]:
    """Breaches of the law in a run, ended or under way. Raises NotApplicable where no rates were written down."""
    rates = [(each.step, each.lr) for each in course.updates if each.lr is not None]
    if len(rates) < FEWEST:
        raise NotApplicable(say.NO_RATES)
    stretches = [(zero, list(group)) for zero, group in groupby(rates, key=lambda pair: not pair[1] or pair[1] <= 0)]
    zeros = [group for zero, group in stretches if zero]
    if not zeros:
        return
    longest = max(zeros, key=len)
    values = {"count": len(longest), "total": len(rates), "first": longest[0][0], "last": longest[-1][0]}
    at_start, at_end = longest[0] == rates[0], longest[-1] == rates[-1]
    if at_start and at_end:
        yield Breach("R03", "ERROR", (Said(say.RATE_ALL_ZERO, values),), ("learning rate zero",))
    elif len(longest) > max(2, _TAIL * len(rates)):
        yield Breach("R03", "WARN", (Said(say.RATE_ZERO, values),), ("learning rate zero",))
    elif at_start:
        yield Breach("R03", "INFO", (Said(say.RATE_ZERO_FIRST, values),), ("learning rate zero",))


def _probe(examination: Examination) -> Iterator[Breach]:
    yield from idle(examination.course())


RUN_RATE = Check("R03", "learning rate", say.RATE, say.RATE_RISK, _probe, needs=("folder",))
