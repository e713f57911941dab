"""K27: what is drawn, punished and searched keeps the laws of sampling, of penalties and of beam search."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.checks import beam_laws, penalty_laws, sampling_laws
from clearformer.doctor.checks.sampling_laws import Found
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach
from clearformer.doctor.forms.arguments import source_of
from clearformer.messages import doctor as say_doctor
from clearformer.messages import doctor_decoding as say

_LAWS: dict[str, Callable[[Examination], Iterator[Found]]] = {
    "sample": sampling_laws.laws,
    "penalise": penalty_laws.laws,
    "beam": beam_laws.laws,
}


def _probe(examination: Examination) -> Iterator[Breach]:
    parts = examination.parts
    handed = [name for name in _LAWS if parts.has(name)]
    if not handed:
        raise NotApplicable(say_doctor.NEEDS["sample"])
    refused: list[NotApplicable] = []
    for name in handed:
        try:
            found = list(_LAWS[name](examination))
        except NotApplicable as answer:
            refused.append(answer)
            continue
        for severity, said, causes in found:
            yield Breach("K27", severity, (said,), causes, source_of(getattr(parts, name)))
    if len(refused) == len(handed):
        raise refused[0]


DECODING = Check("K27", "sampler and beam laws", say.DECODING, say.DECODING_RISK, _probe, needs=())
