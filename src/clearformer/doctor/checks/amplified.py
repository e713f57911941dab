"""K02: with scores as large as training can make them, what comes later still changes nothing before it."""

from __future__ import annotations

from collections.abc import Iterator

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.doctor.operations.amplifying import REACHED, Amplifier
from clearformer.doctor.operations.mends import editing
from clearformer.doctor.operations.recording import record
from clearformer.messages import doctor_operations as say
from clearformer.messages.doctor_sight import NO_POSITIONS


def _probe(examination: Examination) -> Iterator[Breach]:
    if any(breach.check == "K01" and breach.severity == "ERROR" for breach in examination.breaches):
        raise NotApplicable(say.LEAKS_ALREADY)
    subject, generator = examination.asked, examination.generator()
    if not subject.per_position:
        raise NotApplicable(NO_POSITIONS)
    length = subject.length(12)
    inputs = subject.inputs(8, length, generator)
    amplifier = Amplifier()
    leaks = []
    with editing(examination, amplifier, begin=amplifier.begin, numbered=False):
        before, again = subject.answer(inputs), subject.answer(inputs)
        if not amplifier.factors:
            raise NotApplicable(say.NOTHING_TO_AMPLIFY)
        for at in sorted({length - 1, 2 * length // 3, length // 3, 1}, reverse=True):
            after = subject.answer(subject.replaced(inputs, at, generator))
            if at and examination.noise.differs(before[:, :at], after[:, :at]):
                leaks.append((at, examination.noise.moved(before[:, :at], after[:, :at])))
    if not leaks or examination.noise.differs(before, again):
        return
    said = Said(say.GIVES_WAY, {"at": leaks[0][0], "floors": leaks[0][1], "reached": REACHED})
    fill, where = _fill(examination)
    evidence = (said,) if fill is None else (said, Said(say.FILLED_WITH, {"value": fill}))
    signs = {"recorded": 1} if fill is not None else {}
    yield Breach("K02", "ERROR", evidence, ("finite fill reachable",), where=where, signs=signs)


def _fill(examination: Examination) -> tuple[float | None, str | None]:
    """The finite number that the mask puts in, and where."""
    for site in record(examination.asked, examination.generator()).sites:
        for hiding in site.hidings:
            if hiding.value is not None and -2 * REACHED < hiding.value < 0:
                return hiding.value, site.place
    return None, None


AMPLIFIED = Check(
    "K02", "amplified causality", say.AMPLIFIED, say.AMPLIFIED_RISK, _probe, kinds=("decoder", "encoder-decoder")
)  # fmt: skip
