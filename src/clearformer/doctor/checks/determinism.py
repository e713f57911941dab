"""K07: in evaluation the same input gives the same output. The gate: dropout left on makes every other law fail."""

from __future__ import annotations

from collections.abc import Iterator

from clearformer.doctor.check import Check
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.messages import doctor_sight as say


def _probe(examination: Examination) -> Iterator[Breach]:
    subject = examination.asked
    inputs = subject.inputs(2, subject.length(12), examination.generator())
    first, second = subject.answer(inputs), subject.answer(inputs)
    if examination.noise.differs(first, second):
        size = {"size": float((first - second).abs().max()), "floors": examination.noise.moved(first, second)}
        yield Breach(
            "K07", "ERROR", (Said(say.NOT_DETERMINED, size),), ("dropout in evaluation", "state between calls")
        )


DETERMINISM = Check("K07", "determinism", say.DETERMINISM, say.DETERMINISM_RISK, _probe, gate=True)
