"""K01: what comes later changes nothing before it."""

from __future__ import annotations

from collections.abc import Iterator

from clearformer.doctor.check import Check
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.messages import doctor_sight as say


def _probe(examination: Examination) -> Iterator[Breach]:
    subject, generator = examination.asked, examination.generator()
    length = subject.length(12)
    inputs = subject.inputs(2, length, generator)
    before = subject.answer(inputs)
    leaks = []
    for at in (length - 1, length // 2, 1):
        after = subject.answer(subject.replaced(inputs, at, generator))
        moved = [t for t in range(at) if examination.noise.differs(before[:, t], after[:, t])]
        if moved:
            leaks.append((at, moved, examination.noise.moved(before[:, :at], after[:, :at])))
    if leaks:
        at, moved, floors = leaks[0]
        said = Said(say.READS_AHEAD, {"at": at, "first": moved[0], "count": len(moved), "floors": floors})
        ahead = min(at - max(moved) for at, moved, _ in leaks)
        signs = {"furthest": max(at - min(moved) for at, moved, _ in leaks), "nearest": ahead}
        yield Breach("K01", "ERROR", (said,), ("no causal mask", "mask inverted", "mask off by one"), signs=signs)


CAUSALITY = Check(
    "K01", "causality", say.CAUSALITY, say.CAUSALITY_RISK, _probe, kinds=("decoder", "encoder-decoder")
)  # fmt: skip
