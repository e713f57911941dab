"""K34: training that was broken off and taken up again meets what it would have met."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said, Severity
from clearformer.doctor.forms.arguments import source_of
from clearformer.doctor.forms.resuming import Met, Train, resume_form
from clearformer.messages import doctor_data as say

CUTS = (7, 13)
"""Where training is broken off: in the midst of an epoch, whatever usual length that has."""
ON = 5
"""Steps that are compared afterwards."""
MOST_SECONDS = 8.0
Found = tuple[Severity, Said, str]


def _probe(examination: Examination) -> Iterator[Breach]:
    resume = examination.parts.resume
    assert resume is not None
    with TemporaryDirectory() as name:
        folder = Path(name)
        train = resume_form(resume, folder)
        begun = time.monotonic()
        whole = _in(folder, "whole", train, CUTS[-1] + ON)
        cuts = CUTS[:1] if time.monotonic() - begun > MOST_SECONDS else CUTS
        found: dict[str, Found] = {}
        for cut in cuts:
            for each in _broken_off(train, folder, cut, whole):
                found.setdefault(each[2], each)
    for severity, said, cause in found.values():
        yield Breach("K34", severity, (said,), (cause,), source_of(resume))


def _in(folder: Path, name: str, train: Train, steps: int) -> list[Met]:
    (folder / name).mkdir()
    return train(folder / name, steps, 0)


def _broken_off(train: Train, folder: Path, cut: int, whole: list[Met]) -> Iterator[Found]:
    first = _in(folder, f"cut {cut}", train, cut)
    for before, again in zip(first, whole, strict=False):
        if before.weights != again.weights or before.batch != again.batch:
            raise NotApplicable(say.NOT_REPEATABLE)
    if len(first) != cut or len(whole) < cut + 1:
        raise NotApplicable(say.OTHER_COUNT, asked=cut, made=len(first))
    planned = all(math.isclose(a.rate, b.rate) for a, b in zip(first, whole, strict=False))
    # A new process would begin with another state of the generators.
    second = train(folder / f"cut {cut}", cut + ON, 1)
    if not second:
        raise NotApplicable(say.OTHER_COUNT, asked=ON, made=0)
    yield from _compared(second[:ON], whole[cut : cut + ON], cut, planned=planned, over=len(second) == cut + ON)


def _compared(second: list[Met], whole: list[Met], cut: int, *, planned: bool, over: bool) -> Iterator[Found]:
    """The first step tells what was lost; a learning rate or an order may also part later."""
    now, then = second[0], whole[0]
    values: dict[str, object] = {"cut": cut}
    if now.weights != then.weights:
        if over and not now.moments:
            yield "ERROR", Said(say.STARTS_OVER, values), "resume starts over"
        else:
            yield "ERROR", Said(say.OTHER_WEIGHTS, values), "weights lost on resume"
        return
    forgotten = now.moments != then.moments
    if forgotten:
        said = Said(say.NO_MOMENTS if not now.moments else say.OTHER_MOMENTS, values)
        yield "ERROR", said, "optimizer state lost on resume"
    pairs = list(enumerate(zip(second, whole, strict=False)))
    rates = [n for n, (a, b) in pairs if not math.isclose(a.rate, b.rate, rel_tol=1e-6)]
    # An optimizer's state holds the rate as well: lost with it, it comes back with the schedule's next step.
    if planned and rates and not (forgotten and rates == [0]):
        at = rates[0]
        rate = {"rate": second[at].rate, "right": whole[at].rate, "step": cut + at + 1}
        yield "ERROR", Said(say.OTHER_RATE, values | rate), "scheduler state lost on resume"
    orders = [n for n, (a, b) in pairs if a.batch != b.batch]
    if orders:
        yield "ERROR", Said(say.OTHER_BATCH, values | {"step": cut + orders[0] + 1}), "order after resume"
    elif now.gradients != then.gradients:
        yield "WARN", Said(say.OTHER_GRADIENTS, values), "generator state lost on resume"


RESUME = Check("K34", "resume equivalence", say.RESUME, say.RESUME_RISK, _probe, needs=("resume",), quick=False)
