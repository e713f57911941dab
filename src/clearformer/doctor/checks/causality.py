"""K01: what comes later changes nothing before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.messages import doctor_sight as say

LENGTH = 24
"""More than the layers of most models: a mask that is off by one reaches one position a layer."""

EVERYWHERE = (
    "no causal mask", "mask added as 0 and 1", "softmax over the wrong axis", "mask off by one", "mask inverted",
    "heads merged without transpose", "heads split without transpose", "mask multiplied",
    "mask after softmax", "normalised over positions", "convolution reads ahead", "depends on the length",
)  # fmt: skip


@dataclass(frozen=True)
class _Leak:
    at: int
    moved: list[int]
    floors: float


def _probe(examination: Examination) -> Iterator[Breach]:
    subject = examination.asked
    if not subject.per_position:
        raise NotApplicable(say.NO_POSITIONS)
    inputs = subject.inputs(2, subject.length(LENGTH), examination.generator())
    leaks = _leaks(examination, inputs, None)
    padded = subject.takes_mask
    masked = _leaks(examination, inputs, torch.ones(inputs.shape[:2]).bool().to(inputs.device)) if padded else []
    if not leaks and not masked:
        leaks = _leaks(examination, inputs[:1], None)  # a row alone takes other branches in hand-written code
    worst = leaks or masked
    if not worst:
        return
    values = {"at": worst[0].at, "first": worst[0].moved[0], "count": len(worst[0].moved), "floors": worst[0].floors}
    evidence = [Said(say.READS_AHEAD, values)]
    only_bare = padded and bool(leaks) and not masked
    only_masked = bool(masked) and not leaks
    if only_bare or only_masked:
        evidence.append(Said(say.READS_AHEAD_BARE if only_bare else say.READS_AHEAD_MASKED))
    signs: dict[str, object] = {
        "furthest": max(leak.at - min(leak.moved) for leak in worst),
        "nearest": min(leak.at - max(leak.moved) for leak in worst),
        "past": _reads_past(examination, inputs),
        "only without a mask": only_bare,
        "only with a mask": only_masked,
    }
    yield Breach("K01", "ERROR", tuple(evidence), _suspects(signs, worst), signs=signs)


def _leaks(examination: Examination, inputs: Tensor, mask: Tensor | None) -> list[_Leak]:
    subject, generator, noise = examination.asked, examination.generator(), examination.noise
    length = inputs.shape[1]
    before = subject.answer(inputs, mask=mask)
    leaks = []
    for at in dict.fromkeys((length - 1, length // 2, 1)):
        after = subject.answer(subject.replaced(inputs, at, generator), mask=mask)
        moved = [t for t in range(at) if noise.differs(before[:, t], after[:, t])]
        if moved:
            leaks.append(_Leak(at, moved, noise.moved(before[:, :at], after[:, :at])))
    return leaks


def _reads_past(examination: Examination, inputs: Tensor) -> bool:
    """Whether a token in the middle moves most of what follows it."""
    subject, at = examination.asked, inputs.shape[1] // 3
    before = subject.answer(inputs)
    after = subject.answer(subject.replaced(inputs, at, examination.generator()))
    later = range(at + 1, inputs.shape[1] - 1)
    moved = [t for t in later if examination.noise.differs(before[:, t], after[:, t])]
    return len(moved) * 2 > len(later)


def _suspects(signs: dict[str, object], leaks: list[_Leak]) -> tuple[str, ...]:
    if signs["only with a mask"]:
        return ("padding mask inverted", "mask added as 0 and 1", "empty rows")
    if signs["only without a mask"]:
        return ("causal mask only with another mask", *EVERYWHERE)
    if not signs["past"]:
        return ("mask inverted", *(name for name in EVERYWHERE if name != "mask inverted"))
    if min(leaks[0].moved) > 0 and signs["nearest"] == 1:
        near = ("mask off by one", "convolution reads ahead")
        return (*near, *(name for name in EVERYWHERE if name not in near))
    return EVERYWHERE


CAUSALITY = Check(
    "K01", "causality", say.CAUSALITY, say.CAUSALITY_RISK, _probe, kinds=("decoder", "encoder-decoder")
)  # fmt: skip
