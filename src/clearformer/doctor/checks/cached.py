"""K15: what is read piece by piece into a cache is answered as if it were read at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from clearformer.doctor.calling.caches import Reading
from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.checks.cached_further import further
from clearformer.doctor.checks.pieces import PROMPT, differ, first_difference, in_pieces
from clearformer.doctor.checks.window import declared_window
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.doctor.operations.standing import standing
from clearformer.messages import doctor_cache as say


def _probe(examination: Examination) -> Iterator[Breach]:
    subject, noise = examination.asked, examination.noise
    if subject.call.cache is None:
        raise NotApplicable(say.NO_CACHE)
    if not subject.per_position:
        raise NotApplicable(say.LAST_ONLY)
    inputs = subject.inputs(2, subject.length(12), examination.generator())
    whole = subject.answer(inputs)
    first = Reading(subject, 2).read(inputs)
    if differ(examination, first, whole):
        ahead = _reads_ahead(examination, inputs, first)
        suspects = ("prefill not causal", "cache kept from before") if ahead else (
            "cache kept from before", "offset after prefill", "prefill not causal")  # fmt: skip
        said = Said(say.PREFILL_DIFFERS, {"floors": noise.moved(first, whole[:, -first.shape[1] :])})
        yield Breach("K15", "ERROR", (said,), suspects, signs={"reads ahead": ahead}, law="prefill")
        return
    if differ(examination, Reading(subject, 2).read(inputs), first):
        yield Breach("K15", "ERROR", (Said(say.NOT_FRESH),), ("cache kept from before",), law="fresh")
        return
    steps = in_pieces(examination, inputs, [PROMPT] + [1] * (inputs.shape[1] - PROMPT))
    if (at := first_difference(examination, steps, whole)) is not None:
        yield _step_breach(examination, inputs, steps, whole, at)
        return
    ones = in_pieces(examination, inputs, [1] * inputs.shape[1])
    if (at := first_difference(examination, ones, whole)) is not None:
        said = Said(say.ONES_DIFFER, {"at": at, "floors": noise.moved(ones[:, at], whole[:, at])})
        yield Breach("K15", "ERROR", (said,), ("offset after prefill", "cache loses the past"), law="ones")
        return
    yield from further(examination, inputs, whole)


def _reads_ahead(examination: Examination, inputs: Tensor, first: Tensor) -> bool:
    """Whether a prompt that is read into a cache sees its future."""
    changed = examination.asked.replaced(inputs, inputs.shape[1] - 1, examination.generator())
    after = Reading(examination.asked, 2).read(changed)
    return first.shape[1] > 1 and examination.noise.differs(first[:, :-1], after[:, :-1])


def _step_breach(examination: Examination, inputs: Tensor, steps: Tensor, whole: Tensor, at: int) -> Breach:
    """Which of the past a step behind a prompt reads tells what is wrong with it."""
    subject, noise = examination.asked, examination.noise
    said = Said(say.STEP_DIFFERS, {"prompt": PROMPT, "at": at, "floors": noise.moved(steps[:, at], whole[:, at])})
    if subject.call.positions is not None and at >= PROMPT:
        places = torch.arange(inputs.shape[1], device=inputs.device).expand(*inputs.shape[:2])
        told = in_pieces(examination, inputs, [PROMPT] + [1] * (inputs.shape[1] - PROMPT), positions=places)
        if first_difference(examination, told, whole) is None:
            restart = ("positions restart with the cache", "offset after prefill")
            return Breach("K15", "WARN", (said, Said(say.POSITIONS_MEND)), restart, law="steps")
    read, wanted = _history(examination, inputs, cached=True), _history(examination, inputs, cached=False)
    signs = {"reads": read, "at": at}
    unread = [place for place in wanted if place not in read]
    evidence: tuple[Said, ...] = (said,)
    if unread:
        evidence += (Said(say.HISTORY_UNREAD, {"unread": ", ".join(map(str, unread))}),)
    stands = None if unread or subject.call.takes != "ids" else standing(subject, PROMPT)
    suspects: tuple[str, ...]
    if unread and 0 in read and len(read) == 1:
        suspects = ("cache top-left aligned", "cache loses the past")
    elif unread:
        suspects = ("cache loses the past", "cache top-left aligned")
    elif stands is not None and stands != PROMPT:
        evidence += (Said(say.STANDS, {"stands": stands, "right": PROMPT}),)
        suspects = ("offset after prefill", "cache order")
        if not stands:
            suspects = ("positions restart with the cache", *suspects)
    elif _order_matters(examination, inputs):
        suspects = ("cache order", "offset after prefill")
    elif stands == PROMPT and declared_window(examination) is not None:
        suspects = ("cache loses the window", "cache holds other entries")
    elif stands == PROMPT:
        suspects = ("cache holds other entries", "cache order")
    else:
        suspects = ("offset after prefill", "cache order")
    return Breach("K15", "ERROR", evidence, suspects, signs=signs, law="steps")


def _history(examination: Examination, inputs: Tensor, *, cached: bool) -> list[int]:
    """Positions of the prompt that move the answer of the first step behind it."""
    subject = examination.asked

    def answered(prompt: Tensor) -> Tensor:
        if not cached:
            return subject.answer(prompt)[:, -1]
        reading = Reading(subject, len(prompt))
        reading.read(prompt[:, :PROMPT])
        return reading.read(prompt[:, PROMPT : PROMPT + 1])[:, -1]

    inputs = inputs[:, : PROMPT + 1]
    before = answered(inputs)
    changed = (
        (at, answered(subject.replaced(inputs, at, examination.generator()))) for at in range(PROMPT)
    )  # fmt: skip
    return [at for at, after in changed if examination.noise.differs(before, after)]


def _order_matters(examination: Examination, inputs: Tensor) -> bool:
    """Whether a step reacts when the keys and values of the prompt change places in the cache, both alike.

    A weighted sum has no order, so it must not; where keys and values are out of step with each other, it does.
    """
    subject = examination.asked
    answers = []
    for turned in (False, True):
        reading = Reading(subject, len(inputs))
        reading.read(inputs[:, :PROMPT])
        if turned:
            reading.cache = _turned(reading.cache)
        answers.append(reading.read(inputs[:, PROMPT : PROMPT + 1]))
    return examination.noise.differs(*answers)


def _turned(cache: Any) -> Any:
    """The cache with its positions in the opposite order, as far as it is made of plain containers and tensors."""
    if isinstance(cache, Tensor):
        axes = [axis for axis in range(1, cache.ndim) if cache.shape[axis] == PROMPT]
        return cache.flip(axes[-1]) if axes else cache
    if isinstance(cache, list | tuple):
        return type(cache)(_turned(each) for each in cache) if type(cache) in (list, tuple) else cache
    return {key: _turned(each) for key, each in cache.items()} if type(cache) is dict else cache


CACHED = Check(
    "K15", "cache parity", say.CACHED, say.CACHED_RISK, _probe, kinds=("decoder", "encoder-decoder")
)  # fmt: skip
