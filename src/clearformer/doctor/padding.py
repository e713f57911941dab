"""Padded rows to ask with: which columns are real, and other content under the mask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from clearformer.doctor.calling.subject import Subject
from clearformer.doctor.examination import Examination

Side = Literal["left", "right", "middle"]
PADS = 3


@dataclass(frozen=True)
class Padded:
    """`inputs` (B T) or (B T D) with `mask` (B T), True for real; `bare` are the real columns alone."""

    inputs: Tensor
    mask: Tensor
    bare: Tensor

    def under(self, subject: Subject, generator: torch.Generator) -> Tensor:
        """The inputs with other content under the mask."""
        return subject.replaced(self.inputs, ~self.mask, generator)


def padded(subject: Subject, side: Side, generator: torch.Generator, rows: int = 2) -> Padded:
    """Every row padded alike, on one side or in the middle."""
    length = subject.length(12)
    inputs = subject.inputs(rows, length, generator)
    pads = min(PADS, length // 3)
    first = {"left": 0, "right": length - pads, "middle": length // 2 - 1}[side]
    mask = torch.ones(rows, length, dtype=torch.bool, device=inputs.device)
    mask[:, first : first + pads] = False
    return Padded(inputs, mask, inputs[:, mask[0]])


def sides(subject: Subject) -> tuple[Side, ...]:
    """A decoder generates from rows that are padded at the left; a mask that counts knows the right only."""
    if subject.call.padding is not None and subject.call.padding.marking == "count":
        return ("right",)
    return ("middle", "right", "left") if subject.kind == "decoder" else ("middle", "right")


def at_real(subject: Subject, answer: Tensor, mask: Tensor) -> Tensor:
    """The answers at real positions, or the whole answer of a module that pools."""
    return answer[mask] if subject.per_position else answer


def content_matters(examination: Examination, rows: Padded, mask: Tensor | None = None) -> bool | None:
    """Whether what stands under the mask moves the answers at real positions; None where these are no numbers."""
    subject = examination.asked
    told = rows.mask if mask is None else mask
    one = at_real(subject, subject.answer(rows.inputs, mask=told), rows.mask)
    two = at_real(subject, subject.answer(rows.under(subject, examination.generator()), mask=told), rows.mask)
    if not bool(one.isfinite().all()):
        return None
    return examination.noise.differs(one, two)


def hidden_share(examination: Examination, rows: Padded) -> float:
    """How much of the influence of what stands under the mask the mask takes away: 0 none, 1 all.

    A mask may move the answers by the positions that are counted from it, and still hide nothing.
    """
    subject, moved = examination.asked, []
    other = rows.under(subject, examination.generator())
    for told in (rows.mask, torch.ones_like(rows.mask)):
        one, two = (at_real(subject, subject.answer(each, mask=told), rows.mask) for each in (rows.inputs, other))
        moved.append(float((one - two).double().abs().mean()))
    return 1 - moved[0] / max(moved[1], 1e-12)


def full_mask_empties(examination: Examination, rows: Padded) -> bool:
    """Whether a mask that hides nothing leaves no number: it is what hides all."""
    subject = examination.asked
    full = at_real(subject, subject.answer(rows.inputs, mask=torch.ones_like(rows.mask)), rows.mask)
    return not bool(full.isfinite().any()) and bool(subject.answer(rows.inputs).isfinite().all())


def hides_queries(examination: Examination) -> bool:
    """Whether the padded positions themselves lose their mask: under it they read what comes later, or give no number.

    So it is where the mask lies along the queries: each padded row of scores is hidden whole, and so evenly read.
    """
    subject = examination.asked
    if not subject.per_position or subject.kind == "encoder":
        return False
    rows = padded(subject, "middle", examination.generator())
    last = rows.inputs.shape[1] - 1
    other = subject.replaced(rows.inputs, last, examination.generator())
    pads = ~rows.mask[:, :last]
    one, two = (subject.answer(each, mask=rows.mask)[:, :last][pads] for each in (rows.inputs, other))
    return examination.noise.differs(one, two) or not bool(one.isfinite().all())


def mask_matters(examination: Examination, rows: Padded) -> bool:
    """Whether the mask moves the answers at real positions at all."""
    subject = examination.asked
    with_mask = at_real(subject, subject.answer(rows.inputs, mask=rows.mask), rows.mask)
    full = at_real(subject, subject.answer(rows.inputs, mask=torch.ones_like(rows.mask)), rows.mask)
    return full_mask_empties(examination, rows) or not examination.noise.still(with_mask, full)


def moved_by_pad_ids(examination: Examination, inputs: Tensor, source: Tensor | None = None) -> float:
    """How many floors the answers move by when ids of padding are put behind the source, or else behind the inputs.

    That is all a module is told of padding which takes no mask; it must find it by the id.
    """
    subject = examination.asked
    read = inputs if source is None else source
    assert examination.parts.pad_id is not None
    longer = torch.cat([read, torch.full_like(read[:, :PADS], examination.parts.pad_id)], 1)
    if source is not None:
        return examination.noise.moved(
            subject.answer(inputs, source=source), subject.answer(inputs, source=longer)
        )  # fmt: skip
    bare, behind = subject.answer(inputs), subject.answer(longer)
    return examination.noise.moved(bare, behind[:, : inputs.shape[1]] if subject.per_position else behind)
