"""K17: every target position reads the whole source, and nothing of its padding."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.doctor.padding import moved_by_pad_ids
from clearformer.messages import doctor_padding as padding_say
from clearformer.messages import doctor_sight as say

PADS = 3


def _probe(examination: Examination) -> Iterator[Breach]:
    subject, noise, generator = examination.asked, examination.noise, examination.generator()
    if subject.call.source is None:
        raise NotApplicable(say.NO_SOURCE)
    length = subject.length(10)
    inputs, source = subject.inputs(2, length, generator), subject.sources(2, length, generator)
    before = subject.answer(inputs, source=source)
    if noise.still(before, subject.answer(inputs, source=subject.replaced(source, slice(None), generator))):
        yield Breach("K17", "ERROR", (Said(say.SOURCE_UNREAD),), ("source unread",), law="unread")
        return
    unread = [
        at for at in (0, length // 2, length - 1)
        if noise.still(before[:, 0], subject.answer(inputs, source=subject.replaced(source, at, generator))[:, 0])
    ]  # fmt: skip
    if unread:
        said = Said(say.SOURCE_PARTLY, {"unread": ", ".join(map(str, unread))})
        yield Breach("K17", "ERROR", (said,), ("source hidden by causal mask",), law="partly")
    if subject.call.source_masks:
        yield from _padding(examination, inputs, source)
    elif examination.parts.pad_id is not None and subject.call.source_takes == "ids":
        floors = moved_by_pad_ids(examination, inputs, source)
        if noise.broken(floors):
            said = Said(padding_say.PAD_IDS_READ, {"floors": floors})
            suspects = ("memory padding mask missing", "padding mask without effect", "depends on the length")
            yield Breach("K17", "WARN", (said,), suspects, law="padding")


def _padding(examination: Examination, inputs: Tensor, source: Tensor) -> Iterator[Breach]:
    subject, noise, generator = examination.asked, examination.noise, examination.generator()
    real = torch.ones(source.shape[:2], dtype=torch.bool, device=source.device)
    real[:, -PADS:] = False
    other = subject.replaced(source, ~real, generator)
    with_mask = subject.answer(inputs, source=source, source_mask=real)
    moved = noise.moved(with_mask, subject.answer(inputs, source=other, source_mask=real))
    if not noise.broken(moved):
        return
    full = subject.answer(inputs, source=source, source_mask=torch.ones_like(real))
    effect = not noise.still(with_mask, full)
    turned = effect and not noise.differs(
        subject.answer(inputs, source=source, source_mask=~real),
        subject.answer(inputs, source=other, source_mask=~real),
    )
    suspects: tuple[str, ...] = ("memory padding mask missing", "padding mask without effect", "mask added as 0 and 1")
    if turned:
        suspects = ("padding mask inverted", *suspects)
    elif not effect:
        suspects = ("padding mask without effect", "memory padding mask missing")
    said = Said(padding_say.SOURCE_PADDING_READ, {"floors": moved})
    told = (said,) if effect else (said, Said(padding_say.WITHOUT_EFFECT))
    signs = {"effect": effect, "inverted hides": turned}
    yield Breach("K17", "ERROR", told, suspects, signs=signs, law="padding")


SOURCE = Check("K17", "source", say.SOURCE, say.SOURCE_RISK, _probe, kinds=("encoder-decoder",))
