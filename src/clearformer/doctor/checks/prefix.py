"""K05: a prefix alone is answered as the same prefix of something longer."""

from __future__ import annotations

from collections.abc import Iterator

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.messages import doctor_sight as say


def _probe(examination: Examination) -> Iterator[Breach]:
    subject, noise = examination.asked, examination.noise
    if not subject.per_position or subject.only_length is not None:
        raise NotApplicable(say.NO_POSITIONS)
    length = subject.length(16)
    inputs = subject.inputs(2, length, examination.generator())
    whole = subject.answer(inputs)
    parts = (subject.shorter(each) for each in (length - 1, length // 2, 2))
    for part in dict.fromkeys(each for each in parts if each is not None):
        alone = subject.answer(inputs[:, :part])
        if noise.differs(alone, whole[:, :part]):
            values = {"part": part, "length": length, "floors": noise.moved(alone, whole[:, :part])}
            yield Breach(
                "K05", "ERROR", (Said(say.PREFIX_DIFFERS, values),),
                (
                    "depends on the length", "no causal mask", "heads merged without transpose", "mask inverted",
                    "heads split without transpose", "softmax over the wrong axis", "mask off by one",
                    "normalised over positions", "convolution reads ahead", "mask added as 0 and 1", "mask multiplied",
                    "mask after softmax",
                ),
            )  # fmt: skip
            return


PREFIX = Check("K05", "prefix consistency", say.PREFIX, say.PREFIX_RISK, _probe, kinds=("decoder", "encoder-decoder"))
