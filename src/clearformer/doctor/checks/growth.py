"""K37: with a cache each step costs one token: the prefix is not computed again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import nn

from clearformer.doctor.calling.caches import Reading
from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.doctor.generating import generating, lengths_read
from clearformer.messages import doctor_cache as say

PROMPT, STEPS = 6, 4


def _probe(examination: Examination) -> Iterator[Breach]:
    subject = examination.asked
    if subject.call.cache is None:
        raise NotApplicable(say.NO_CACHE)
    inputs = subject.inputs(1, PROMPT + STEPS, examination.generator())
    reading, work = Reading(subject, 1), []
    for start, end in [(0, PROMPT), *((at, at + 1) for at in range(PROMPT, PROMPT + STEPS))]:
        work.append(_rows(subject.module, reading, inputs[:, start:end]))
    if subject.kind == "decoder" and work[-1] > work[1] > 0 and work[-1] * 2 > work[0]:
        values = {"first": work[1], "last": work[-1], "steps": STEPS}
        yield Breach("K37", "WARN", (Said(say.WORK_GROWS, values),), ("prefix repeated",), law="work")
    generation = generating(examination)
    if generation is not None and subject.call.takes == "ids":
        ids = inputs[:, :PROMPT]
        lengths = lengths_read(subject.module, lambda: generation.new(ids, STEPS))
        if len(lengths) > 2 and lengths[2] > lengths[1] > 1:
            said = Said(say.INPUT_GROWS, {"lengths": ", ".join(map(str, lengths[:STEPS]))})
            yield Breach("K37", "WARN", (said,), ("prefix repeated",), law="input")


def _rows(module: nn.Module, reading: Reading, inputs: Any) -> int:
    """Vectors that go through the module's linear layers while it reads on."""
    seen = 0

    def note(layer: nn.Module, placed: Any, output: Any) -> None:
        nonlocal seen
        seen += output.numel() // max(output.shape[-1], 1)

    hooks = [each.register_forward_hook(note) for each in module.modules() if isinstance(each, nn.Linear)]
    try:
        reading.read(inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return seen


GROWTH = Check(
    "K37", "cache growth", say.GROWTH, say.GROWTH_RISK, _probe, kinds=("decoder", "encoder-decoder"), quick=False
)  # fmt: skip
