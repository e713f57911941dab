"""K12: queries that see nothing leave every real answer and every gradient a number."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said, Severity
from clearformer.doctor.padding import at_real, padded
from clearformer.messages import doctor_padding as say

SUSPECTS = ("empty rows", "masks overflow")


def _probe(examination: Examination) -> Iterator[Breach]:
    subject = examination.asked
    if not subject.takes_mask:
        raise NotApplicable(say.NO_MASK)
    counts = subject.call.padding is not None and subject.call.padding.marking == "count"
    rows = padded(subject, "left", examination.generator())
    if subject.kind == "decoder" and not counts:
        yield from _finite(examination, rows.inputs, rows.mask, rows.mask, "ERROR", "left")
    mask = torch.ones_like(rows.mask)
    mask[1] = False
    real = mask if subject.per_position else torch.ones_like(mask)
    yield from _finite(examination, rows.inputs, mask, real, "INFO", "whole")


def _finite(
    examination: Examination, inputs: Tensor, mask: Tensor, real: Tensor, severity: Severity, law: str
) -> Iterator[Breach]:
    """Answers at real places first, then gradients. The other rows of a batch are real whatever becomes of one."""
    subject = examination.asked
    where = Said(say.PLACES[law])
    before = at_real(subject, subject.answer(inputs), real)
    if not bool(before.isfinite().all()):
        return
    with torch.enable_grad():
        answer = subject.answer(inputs, mask=mask, gradient=True)
        kept = at_real(subject, answer, real) if subject.per_position else answer[:1]
        if not bool(kept.isfinite().all()):
            share = 1 - float(kept.isfinite().double().mean())
            said = Said(say.NOT_FINITE, {"share": share, "place": where.message})
            yield Breach("K12", "ERROR", (said,), SUSPECTS, law=law)
            return
        weights = [each for each in subject.module.parameters() if each.requires_grad]
        if not kept.requires_grad or not weights:
            return
        gradients = torch.autograd.grad(kept.double().pow(2).sum(), weights, allow_unused=True)
    bad = sum(not bool(each.isfinite().all()) for each in gradients if each is not None)
    if bad:
        said = Said(say.GRADIENT_NOT_FINITE, {"count": bad, "place": where.message})
        yield Breach("K12", severity, (said,), SUSPECTS, law=law)
    elif severity == "INFO" and not bool(answer.isfinite().all()):
        yield Breach("K12", "INFO", (Said(say.ROW_NOT_FINITE),), SUSPECTS, law=law)


EMPTY_ROWS = Check("K12", "empty rows", say.EMPTY_ROWS, say.EMPTY_ROWS_RISK, _probe)
