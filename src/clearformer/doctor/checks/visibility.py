"""K03: a position sees what it is meant to see: itself, the token before it, the first one; an encoder both sides."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.checks.window import declared_window
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said, Severity
from clearformer.doctor.noise import STILL
from clearformer.messages import doctor_sight as say

CLEAR = 1e4
"""Floors that a position's own token moves it by where the number type tells influence from rounding."""


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
    moved = {}
    for place in wanted:
        after = subject.answer(subject.replaced(inputs, place, generator))
        moved[place] = examination.noise.moved(before[:, at], after[:, at])
    # Weights that only multiply a position's own value sum to one but for rounding, which is no influence either.
    least = 1.0 if moved[at] > CLEAR else STILL
    unseen = [place for place in wanted if moved[place] < least]
    if not unseen:
        return
    said = Said(say.UNSEEN, {"at": at, "unseen": ", ".join(map(str, unseen))})
    if unseen == ahead:
        # A prefix that sees itself, or a window to both sides, was meant to end somewhere.
        if examination.noise.still(before[:, :1], subject.answer(subject.replaced(inputs, 1, generator))[:, :1]):
            yield Breach("K03", "WARN", (said,), ("encoder is causal",))
        return
    ahead_of = subject.answer(subject.replaced(inputs, length - 1, generator))[:, : length - 1]
    turned = subject.kind != "encoder" and not examination.noise.still(before[:, : length - 1], ahead_of)
    suspects = ("mask inverted", "mask off by one", "past unread") if turned else ("past unread",)
    if unseen == [0] and not turned and (back := _like_a_window(examination, inputs, at)) is not None:
        values = {"at": at, "back": back, "window": back + 1}
        yield Breach("K03", "INFO", (Said(say.SEES_BACK, values),), ("past unread",), signs={"back": back})
        return
    severity: Severity = "WARN" if unseen == [0] and not turned and _near_is_seen(examination, inputs, at) else "ERROR"
    yield Breach("K03", severity, (said,), suspects, signs={"unseen": unseen, "reads ahead": turned})


def _like_a_window(examination: Examination, inputs: Tensor, at: int) -> int | None:
    """How far back is read, where all of that is read and no more, and as far from another place too."""
    reaches = []
    for place in (at, at - 2):
        subject, before = examination.asked, examination.asked.answer(inputs)[:, place]
        seen = [
            back for back in range(1, place + 1)
            if not examination.noise.still(
                before, subject.answer(subject.replaced(inputs, place - back, examination.generator()))[:, place]
            )
        ]  # fmt: skip
        if not seen or seen != list(range(1, len(seen) + 1)):
            return None
        # From nearer the start all of it may be within reach.
        reaches.append((len(seen), len(seen) == place))
    (far, _), (near, whole) = reaches
    return far if near == far or whole else None


def _near_is_seen(examination: Examination, inputs: Tensor, at: int) -> bool:
    """Whether all of the nearer half is read: what a window that was not declared looks like."""
    subject = examination.asked
    before = subject.answer(inputs)[:, at]
    nearer = (subject.answer(subject.replaced(inputs, place, examination.generator()))[:, at]
              for place in range(at // 2 + 1, at))  # fmt: skip
    return not any(examination.noise.still(before, after) for after in nearer)


VISIBILITY = Check(
    "K03", "visibility", say.VISIBILITY, say.VISIBILITY_RISK, _probe, kinds=("decoder", "encoder", "encoder-decoder")
)  # fmt: skip
