"""K32: documents packed into one row are answered as if each were alone."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.messages import doctor_sight as say


def _probe(examination: Examination) -> Iterator[Breach]:
    subject, noise, generator = examination.asked, examination.noise, examination.generator()
    if subject.call.documents is None or not subject.per_position:
        raise NotApplicable(say.NO_DOCUMENTS)
    length = subject.length(12)
    inputs, cut = subject.inputs(2, length, generator), length // 2
    documents = (torch.arange(length, device=inputs.device) >= cut).long().expand(2, length).contiguous()
    if subject.kind == "encoder" and _are_types(examination, inputs, documents):
        raise NotApplicable(say.TOKEN_TYPES)
    packed = subject.answer(inputs, documents=documents)
    other = subject.answer(subject.replaced(inputs, slice(0, cut), generator), documents=documents)
    if noise.differs(packed[:, cut:], other[:, cut:]):
        values = {"floors": noise.moved(packed[:, cut:], other[:, cut:])}
        yield Breach("K32", "ERROR", (Said(say.DOCUMENTS_MIX, values),), ("documents mixed",), law="mixed")
        return
    alone = subject.answer(inputs[:, cut:], documents=torch.zeros_like(documents[:, cut:]))
    if noise.differs(packed[:, cut:], alone):
        values = {"floors": noise.moved(packed[:, cut:], alone)}
        yield Breach("K32", "WARN", (Said(say.POSITIONS_RUN_ON, values),), ("positions not reset",), law="positions")


def _are_types(examination: Examination, inputs: torch.Tensor, documents: torch.Tensor) -> bool:
    """An argument such as segment_ids may take token types: then one type everywhere, or another, is not the same."""
    subject = examination.asked
    zeros, ones = torch.zeros_like(documents), torch.ones_like(documents)
    return examination.noise.differs(subject.answer(inputs, documents=zeros), subject.answer(inputs, documents=ones))


DOCUMENTS = Check("K32", "document isolation", say.DOCUMENTS, say.DOCUMENTS_RISK, _probe, kinds=("decoder", "encoder"))
