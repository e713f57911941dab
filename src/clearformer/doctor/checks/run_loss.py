"""R01: a loss that is trained falls; one that stays at ln V knows nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean, median

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.course import Course
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.messages import doctor_runs as say

FEWEST = 20
"""Losses that it takes to speak of a trend."""
FEWEST_STEPS = 100
"""Updates within which warm-up may still keep the loss where it began."""
_NEAR = 0.02
"""Relative distance from ln V that counts as being there."""


def stuck(course: Course) -> Iterator[Breach]:
    """Breaches of the law in a run, ended or under way. Raises NotApplicable for one that is too short."""
    steps, losses = course.losses()
    if len(losses) < FEWEST or steps[-1] - steps[0] + 1 < FEWEST_STEPS:
        raise NotApplicable(say.TOO_SHORT, found=len(losses), fewest=FEWEST, steps=FEWEST_STEPS)
    part = max(5, len(losses) // 10)
    first, last = losses[:part], losses[-part:]
    fell = median(first) - median(last)
    spread = _spread(last)
    if fell > max(3 * spread / math.sqrt(part), 0.01 * abs(median(first))):
        return
    values = {"first": fmean(first), "last": fmean(last), "step": steps[-1]}
    nothing = math.log(course.choices) if course.choices else None
    if nothing is not None and abs(median(last) - nothing) < _NEAR * nothing:
        said = Said(say.AT_LN_V, {**values, "nothing": nothing, "choices": course.choices})
        yield Breach("R01", "ERROR", (said,), ("loss stuck at ln V", "learning rate zero", "gradient vanished"))
    elif nothing is None or median(last) > 0.1 * nothing:
        suspects = ("loss does not fall", "learning rate zero", "gradient vanished")
        yield Breach("R01", "WARN", (Said(say.NOT_FALLING, values),), suspects)


def _spread(values: list[float]) -> float:
    """Standard deviation that a spike does not move: from the median of distances."""
    middle = median(values)
    return 1.4826 * median(abs(value - middle) for value in values)


def _probe(examination: Examination) -> Iterator[Breach]:
    yield from stuck(examination.course())


RUN_LOSS = Check("R01", "loss falls", say.FALLS, say.FALLS_RISK, _probe, needs=("folder",))
