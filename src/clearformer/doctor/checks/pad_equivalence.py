"""K10: a padded row with its mask is answered as the row alone."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.doctor.padding import PADS, Padded, Side, at_real, content_matters, moved_by_pad_ids, padded
from clearformer.messages import doctor_padding as say


def _probe(examination: Examination) -> Iterator[Breach]:
    subject = examination.asked
    if not subject.takes_mask:
        yield from _by_id(examination)
        return
    if subject.only_length is not None:
        raise NotApplicable(say.ONE_LENGTH)
    yield from _side(examination, "right")
    counts = subject.call.padding is not None and subject.call.padding.marking == "count"
    if subject.kind == "decoder" and not counts:
        yield from _side(examination, "left")


def _by_id(examination: Examination) -> Iterator[Breach]:
    """Padding behind it is nothing to a decoder, and that behind a source is K17's."""
    subject = examination.asked
    known = examination.parts.pad_id is not None and subject.call.takes == "ids"
    if not known or subject.kind != "encoder" or subject.only_length is not None:
        raise NotApplicable(say.NO_MASK)
    inputs = subject.inputs(2, subject.length(12) - PADS, examination.generator())
    floors = moved_by_pad_ids(examination, inputs)
    if examination.noise.broken(floors):
        said = Said(say.PADDED_DIFFERS, {"side": say.SIDES["right"], "floors": floors})
        suspects = (
            "padding mask without effect",
            "padding mask on queries",
            "padding pooled in",
            "depends on the length",
        )
        if not subject.per_position:
            suspects = ("padding pooled in", *suspects[:2], *suspects[3:])
        yield Breach("K10", "WARN", (said,), suspects, law="right")


def _side(examination: Examination, side: Side) -> Iterator[Breach]:
    subject, noise = examination.asked, examination.noise
    rows = padded(subject, side, examination.generator())
    if content_matters(examination, rows) is not False:
        return  # K09 and K12 say that
    alone = subject.answer(rows.bare)
    told = subject.answer(rows.inputs, mask=rows.mask)
    if not noise.differs(_flat(alone, subject.per_position), at_real(subject, told, rows.mask)):
        return
    values = {"side": say.SIDES[side], "floors": noise.moved(_flat(alone, subject.per_position),
                                                             at_real(subject, told, rows.mask))}  # fmt: skip
    said = Said(say.PADDED_DIFFERS, values)
    if side == "right":
        suspects = ("padding pooled in", "depends on the length", "padding mask inverted")
        yield Breach("K10", "ERROR", (said,), suspects if not subject.per_position else suspects[1:], law=side)
    elif subject.call.positions is None:
        yield Breach("K10", "INFO", (said,), ("positions not from mask", "depends on the length"), law=side)
    elif _differs_with_positions(examination, rows, alone):
        yield Breach("K10", "ERROR", (said, Said(say.WITH_POSITIONS_TOO)), ("positions not from mask",
                     "depends on the length"), law=side)  # fmt: skip


def _differs_with_positions(examination: Examination, rows: Padded, alone: Tensor) -> bool:
    """Whether handing in the positions that the mask counts does not mend it: usage it is where it does."""
    subject = examination.asked
    positions = (rows.mask.long().cumsum(-1) - 1).clamp(min=0)
    told = subject.answer(rows.inputs, mask=rows.mask, positions=positions)
    return examination.noise.differs(_flat(alone, subject.per_position), at_real(subject, told, rows.mask))


def _flat(answer: Tensor, per_position: bool) -> Tensor:
    """As `at_real` gives it."""
    return answer.flatten(0, 1) if per_position else answer


PAD_EQUIVALENCE = Check("K10", "padding equivalence", say.PAD_EQUIVALENCE, say.PAD_EQUIVALENCE_RISK, _probe)
