"""K07: in evaluation the same input gives the same output. The gate: dropout left on makes every other law fail."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from clearformer.doctor.calling.trying import seeded
from clearformer.doctor.check import Check
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.messages import doctor_sight as say


def _probe(examination: Examination) -> Iterator[Breach]:
    subject, generator = examination.asked, examination.generator()
    length = subject.length(12)
    inputs, other = subject.inputs(2, length, generator), subject.inputs(2, length, generator)
    try:
        first, second = subject.answer(inputs), subject.answer(inputs)
        subject.answer(other)
        third = subject.answer(inputs)
        same = first.shape == second.shape == third.shape
    except Exception as error:  # the first call went well when the call was found
        said = Said(say.RAISES_LATER, {"kind": type(error).__name__, "detail": error})
        yield Breach("K07", "ERROR", (said,), ("state between calls",))
        return
    if not same:
        shapes = {"one": tuple(first.shape), "other": tuple(third.shape)}
        yield Breach("K07", "ERROR", (Said(say.OTHER_SHAPE, shapes),), ("state between calls",))
        return
    apart = max((second, third), key=lambda each: examination.noise.moved(first, each))
    if examination.noise.differs(first, apart):
        drawn = _drawn(examination, inputs)
        size = {"size": float((first - apart).abs().max()), "floors": examination.noise.moved(first, apart)}
        suspects = ("dropout in evaluation", "state between calls")
        yield Breach(
            "K07", "ERROR", (Said(say.NOT_DETERMINED, size),), suspects if drawn else suspects[::-1],
            signs={"drawn": drawn},
        )  # fmt: skip


def _drawn(examination: Examination, inputs: torch.Tensor) -> bool:
    """Whether the difference goes when the generator starts from one state each time: then it is drawn, not kept."""
    answers = []
    for _ in range(2):
        with seeded():
            answers.append(examination.asked.answer(inputs))
    return not examination.noise.differs(*answers)


DETERMINISM = Check("K07", "determinism", say.DETERMINISM, say.DETERMINISM_RISK, _probe, gate=True)
