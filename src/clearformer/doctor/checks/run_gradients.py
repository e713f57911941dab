"""R05: gradients arrive: neither vanished nor exploding."""

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
_VANISHED = 1e-6
_GROWTH = 100.0
_LARGE = 100.0


def norms(course: Course) -> Iterator[Breach]:
    """Breaches of the law in a run, ended or under way. Raises NotApplicable where no norms were written down."""
    found = [(each.step, each.norm) for each in course.updates if each.norm is not None]
    if len(found) < FEWEST:
        raise NotApplicable(say.NO_NORMS, found=len(found), fewest=FEWEST)
    lost = [step for step, norm in found if not math.isfinite(norm)]
    sizes = [norm for _, norm in found if math.isfinite(norm)]
    if lost:
        said = Said(say.NORM_NOT_FINITE, {"count": len(lost), "first": lost[0]})
        severity = "ERROR" if len(lost) > 0.05 * len(found) else "WARN"
        yield Breach("R05", severity, (said,), ("gradient explodes", "loss not finite"))  # type: ignore[arg-type]
    if len(sizes) < FEWEST:
        return
    part = max(5, len(sizes) // 10)
    first, last = median(sizes[:part]), median(sizes[-part:])
    if last < _VANISHED:
        yield Breach("R05", "ERROR", (Said(say.NORM_ZERO, {"last": last}),), ("gradient vanished",))
    elif last > _GROWTH * max(first, 1e-12) and last > _LARGE:
        yield Breach("R05", "WARN", (Said(say.NORM_GROWS, {"first": first, "last": last}),), ("gradient explodes",))


def _probe(examination: Examination) -> Iterator[Breach]:
    yield from norms(examination.course())


RUN_GRADIENTS = Check("R05", "gradient norm", say.GRADIENTS, say.GRADIENTS_RISK, _probe, needs=("folder",))
