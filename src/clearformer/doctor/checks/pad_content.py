"""K09: what stands under the padding mask moves nothing that is real."""

from __future__ import annotations

from collections.abc import Iterator

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.doctor.padding import (
    Padded,
    content_matters,
    full_mask_empties,
    hidden_share,
    hides_queries,
    mask_matters,
    padded,
    sides,
)
from clearformer.messages import doctor_padding as say

HIDES = 0.4
"""Of the influence under the mask. A mask that takes less away is not there; one that is added takes more."""

PARTLY = (
    "mask added as 0 and 1", "padding mask on queries", "padding mask without effect", "padding mask inverted",
    "mask multiplied", "mask after softmax", "finite fill reachable", "softmax over the wrong axis",
    "heads merged without transpose", "heads split without transpose",
)  # fmt: skip


def _probe(examination: Examination) -> Iterator[Breach]:
    subject = examination.asked
    if not subject.takes_mask:
        raise NotApplicable(say.NO_MASK)
    for side in sides(subject):
        rows = padded(subject, side, examination.generator())
        if content_matters(examination, rows) is True:
            effect = mask_matters(examination, rows)
            turned = effect and (_turned(examination, rows) or full_mask_empties(examination, rows))
            if subject.per_position and effect and not turned:
                effect = hidden_share(examination, rows) > HIDES
            said = Said(say.PADDING_READ, {"side": say.SIDES[side]})
            signs = {"effect": effect, "inverted hides": turned, "side": side}
            yield Breach("K09", "ERROR", (said, *_told(effect, turned)), _suspects(examination, effect, turned),
                         signs=signs)  # fmt: skip
            return


def _turned(examination: Examination, rows: Padded) -> bool:
    """Whether the mask does hide what stands under it when it is handed in the other way round."""
    call = examination.asked.call
    if call.padding is not None and call.padding.marking == "count":
        return False
    return content_matters(examination, rows, ~rows.mask) is False


def _told(effect: bool, turned: bool) -> tuple[Said, ...]:
    if not effect:
        return (Said(say.WITHOUT_EFFECT),)
    return (Said(say.TURNED_HIDES),) if turned else ()


def _suspects(examination: Examination, effect: bool, turned: bool) -> tuple[str, ...]:
    if turned:
        return ("padding mask inverted", "padding mask without effect")
    others = tuple(name for name in PARTLY if name != "padding mask on queries")
    if hides_queries(examination):
        return ("padding mask on queries", *others)
    if not effect:
        return ("padding mask without effect",)
    if not examination.asked.per_position:
        return ("padding pooled in", *PARTLY)
    return others if examination.asked.kind == "decoder" else PARTLY


PAD_CONTENT = Check("K09", "padding content", say.PAD_CONTENT, say.PAD_CONTENT_RISK, _probe)
