"""K06: each row of a batch is answered as if it were alone, wherever it stands."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from clearformer.doctor.check import Check
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.messages import doctor_sight as say


def _probe(examination: Examination) -> Iterator[Breach]:
    noise, generator = examination.noise, examination.generator()
    subject = examination.asked
    length = subject.length(10)
    inputs = subject.inputs(3, length, generator)
    sources = subject.sources(3, length, generator) if subject.call.source is not None else None
    whole = subject.answer(inputs, source=sources)
    others = torch.tensor([False, True, True], device=inputs.device)[:, None].expand(3, length)
    fresh = subject.replaced(inputs, others, generator)
    fresh_sources = None if sources is None else subject.replaced(sources, others, generator)
    moved = noise.moved(whole[:1], subject.answer(fresh, source=fresh_sources)[:1])
    alike = subject.answer(_same(inputs), source=None if sources is None else _same(sources))
    by_place = max(noise.moved(alike[:1], alike[row : row + 1]) for row in (1, 2))
    alone = noise.moved(whole[:1], subject.answer(inputs[:1], source=None if sources is None else sources[:1]))
    if noise.broken(moved):
        said = Said(say.ROWS_MIX, {"floors": moved})
        suspects: tuple[str, ...] = (
            "batch first missing", "rows depend on each other", "heads merged without transpose",
            "heads split without transpose", "softmax over the wrong axis",
        )  # fmt: skip
        yield Breach("K06", "ERROR", (said,), suspects, signs={"by place": noise.broken(by_place)})
    elif noise.broken(by_place):
        suspects = ("positions on the batch axis", "rows depend on each other")
        yield Breach("K06", "ERROR", (Said(say.ROWS_BY_PLACE, {"floors": by_place}),), suspects)
    elif noise.broken(alone):
        said = Said(say.ROW_ALONE, {"floors": alone})
        yield Breach("K06", "ERROR", (said,), ("rows depend on each other", "batch first missing"))


def _same(inputs: Tensor) -> Tensor:
    return inputs[:1].expand(3, *inputs.shape[1:]).contiguous()


ROWS = Check("K06", "batch independence", say.ROWS, say.ROWS_RISK, _probe)
