"""K11: a mask that hides nothing changes nothing, one that hides something does, in whatever number type it comes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch

from clearformer.doctor.calling.call import Number
from clearformer.doctor.calling.trying import with_call
from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.doctor.padding import at_real, content_matters, mask_matters, padded
from clearformer.messages import doctor_padding as say

NUMBERS: tuple[Number, ...] = ("bool", "int", "float")


def _probe(examination: Examination) -> Iterator[Breach]:
    subject, noise = examination.asked, examination.noise
    if not subject.takes_mask:
        raise NotApplicable(say.NO_MASK)
    rows = padded(subject, "middle", examination.generator())
    padding = subject.call.padding
    if padding is not None and padding.name not in subject.call.needed:
        bare, full = subject.answer(rows.inputs), subject.answer(rows.inputs, mask=torch.ones_like(rows.mask))
        if noise.differs(bare, full) and "causal mask only with another mask" not in _suspected(examination):
            said = Said(say.FULL_MASK_ACTS, {"floors": noise.moved(bare, full)})
            yield Breach("K11", "ERROR", (said,), ("padding mask inverted", "mask added as 0 and 1"), law="full")
    if padding is None or padding.marking not in ("keep", "hide"):
        return
    if padding.marking != "count" and subject.per_position and not mask_matters(examination, rows):
        yield Breach("K11", "ERROR", (Said(say.WITHOUT_EFFECT),), ("padding mask without effect",), law="effect")
        return
    if content_matters(examination, rows) is False:
        yield from _types(examination)


def _suspected(examination: Examination) -> set[str]:
    return {name for breach in examination.breaches for name in breach.suspects[:1]}


def _types(examination: Examination) -> Iterator[Breach]:
    """The same mask as other numbers. A type that the module refuses is refused openly, and no fault."""
    subject = examination.asked
    rows, padding = padded(subject, "right", examination.generator()), subject.call.padding
    assert padding is not None
    usual = at_real(subject, subject.answer(rows.inputs, mask=rows.mask), rows.mask)
    for number in NUMBERS:
        if number == padding.number:
            continue
        other = with_call(subject, padding=replace(padding, number=number))
        try:
            found = at_real(subject, other.answer(rows.inputs, mask=rows.mask), rows.mask)
        except Exception:
            continue
        if examination.noise.differs(usual, found):
            said = Said(say.TYPE_MATTERS, {"one": padding.number, "other": number})
            yield Breach("K11", "INFO", (said,), ("mask type matters",), law="types")
            return


MASK_CONTRACT = Check("K11", "mask contract", say.MASK_CONTRACT, say.MASK_CONTRACT_RISK, _probe)
