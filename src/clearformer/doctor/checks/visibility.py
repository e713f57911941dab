"""K03: a position sees what it is meant to see: itself, the token before it, the first one; an encoder both sides."""

from __future__ import annotations

from collections.abc import Iterator

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.checks.window import declared_window
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.messages import doctor_sight as say


def _probe(examination: Examination) -> Iterator[Breach]:
    subject, generator = examination.asked, examination.generator()
    if not subject.per_position:
        raise NotApplicable(say.NO_POSITIONS)
    length = subject.length(12)
    inputs = subject.inputs(2, length, generator)
    before = subject.answer(inputs)
    at = length - 1 if subject.kind != "encoder" else length // 2
    window = declared_window(examination)
    ahead = [length - 1] if subject.kind == "encoder" and window is None else []
    wanted = dict.fromkeys([at, at - 1, *([0] if window is None else []), *ahead])
    unseen = []
    for place in wanted:
        after = subject.answer(subject.replaced(inputs, place, generator))
        if examination.noise.still(before[:, at], after[:, at]):
            unseen.append(place)
    if not unseen:
        return
    said = Said(say.UNSEEN, {"at": at, "unseen": ", ".join(map(str, unseen))})
    if unseen == ahead:
        yield Breach("K03", "WARN", (said,), ("encoder is causal",))
    else:
        ahead_of = subject.answer(subject.replaced(inputs, length - 1, generator))[:, : length - 1]
        turned = subject.kind != "encoder" and not examination.noise.still(before[:, : length - 1], ahead_of)
        suspects = ("mask inverted", "mask off by one", "past unread") if turned else ("past unread",)
        yield Breach("K03", "ERROR", (said,), suspects, signs={"unseen": unseen, "reads ahead": turned})


VISIBILITY = Check(
    "K03", "visibility", say.VISIBILITY, say.VISIBILITY_RISK, _probe, kinds=("decoder", "encoder", "encoder-decoder")
)  # fmt: skip
