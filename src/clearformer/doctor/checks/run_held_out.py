"""R04: what is learnt holds for data not trained on, and is not too good to be true."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import median

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.course import Course
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.messages import doctor_runs as say

FEWEST = 3
_RISE = 1.1
"""Times its best that a held-out loss may be at the end."""
_TOO_GOOD = 0.02
"""Share of ln V under which no text of any size can be foretold."""
_WIDE = 10_000
"""Choices from which a text, and no toy with an answer to everything, is learnt."""


def gap(course: Course) -> Iterator[Breach]:
    """Breaches of the law in a run, ended or under way. Raises NotApplicable for one without evaluations."""
    held_out = [(step, loss) for step, loss in course.held_out if math.isfinite(loss)]
    if len(held_out) < FEWEST:
        raise NotApplicable(say.NO_HELD_OUT, found=len(held_out), fewest=FEWEST)
    best_step, best = min(held_out, key=lambda pair: pair[1])
    last_step, last = held_out[-1]
    steps, losses = course.losses()
    trained = [loss for step, loss in zip(steps, losses, strict=True) if step > best_step]
    before = [loss for step, loss in zip(steps, losses, strict=True) if step <= best_step]
    falling = bool(trained and before) and median(trained[-10:]) < median(before[-10:])
    if last > _RISE * best and last - best > 0.02 and falling:
        values = {"best": best, "step": best_step, "last": last, "end": last_step, "trained": median(trained[-10:])}
        yield Breach("R04", "WARN", (Said(say.OVERFITS, values),), ("overfitting",))
    if course.choices and course.choices >= _WIDE and last < _TOO_GOOD * math.log(course.choices):
        said = Said(say.TOO_GOOD, {"last": last, "choices": course.choices})
        yield Breach("R04", "WARN", (said,), ("loss too good",))


def _probe(examination: Examination) -> Iterator[Breach]:
    yield from gap(examination.course())


RUN_HELD_OUT = Check("R04", "held-out loss", say.HOLDS_OUT, say.HOLDS_OUT_RISK, _probe, needs=("folder",))
