"""K15 beyond single steps: several tokens behind a cache, rows that are padded, prompts longer than a window."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from clearformer.doctor.calling.caches import Reading
from clearformer.doctor.checks.pieces import PROMPT, first_difference, in_pieces
from clearformer.doctor.checks.window import declared_window
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.doctor.padding import PADS
from clearformer.messages import doctor_cache as say

CHUNK = 3
LONGEST_WINDOW = 40
"""A longer window is not overrun by inputs of a probe's length."""


def further(examination: Examination, inputs: Tensor, whole: Tensor) -> Iterator[Breach]:
    """What holds of single steps is now asked of chunks, of padded rows and beyond a window."""
    found = [*_chunk(examination, inputs, whole)]
    yield from found or [*_beyond_window(examination), *_ragged(examination, inputs)]


def _chunk(examination: Examination, inputs: Tensor, whole: Tensor) -> Iterator[Breach]:
    """Several tokens at once behind a cache. A module that refuses them says so itself, and is not at fault."""
    subject = examination.asked
    assert subject.call.cache is not None
    if subject.call.cache.whole:
        return
    try:
        pieces = in_pieces(examination, inputs, [PROMPT, CHUNK, inputs.shape[1] - PROMPT - CHUNK])
    except Exception:
        return
    at = first_difference(examination, pieces, whole)
    if at is None:
        return
    said = Said(say.CHUNK_DIFFERS, {"count": CHUNK, "floors": examination.noise.moved(pieces[:, at], whole[:, at])})
    ahead = _chunk_reads(examination, inputs, at=PROMPT + CHUNK - 1)
    behind = _chunk_reads(examination, inputs, at=PROMPT - 1)
    suspects: tuple[str, ...] = ("chunk not causal", "cache top-left aligned", "offset after prefill")
    if not behind:
        # The newest of the past is hidden: it lies behind what is new, or the mask is aligned at the wrong end.
        aligned = ("cache top-left aligned", "chunk not causal", "cache order")
        suspects = ("cache order", *suspects) if ahead else aligned
    elif not ahead:
        suspects = ("offset after prefill", "cache order", "chunk not causal")
    yield Breach("K15", "WARN", (said,), suspects, signs={"ahead": ahead, "behind": behind}, law="chunk")


def _chunk_reads(examination: Examination, inputs: Tensor, *, at: int) -> bool:
    """Whether the first token of a chunk behind the prompt reacts to another token at a position."""
    subject, answers = examination.asked, []
    for each in (inputs, subject.replaced(inputs, at, examination.generator())):
        reading = Reading(subject, len(each))
        reading.read(each[:, :PROMPT])
        answers.append(reading.read(each[:, PROMPT : PROMPT + CHUNK])[:, :1])
    return examination.noise.differs(*answers)


def _beyond_window(examination: Examination) -> Iterator[Breach]:
    """A prompt longer than the window, and steps behind it: what a rolling cache keeps is the newest."""
    subject, window = examination.asked, declared_window(examination)
    if window is None or not 1 < window <= LONGEST_WINDOW:
        return
    length = subject.length(2 * window + 6)
    prompt = window + 2
    if length < prompt + 3:
        return
    inputs = subject.inputs(2, length, examination.generator())
    whole = subject.answer(inputs)
    for sizes in ([prompt] + [1] * (length - prompt), [1] * length):
        steps = in_pieces(examination, inputs, sizes)
        at = first_difference(examination, steps, whole)
        if at is not None:
            values: dict[str, object] = {"window": window, "prompt": sizes[0], "at": at}
            values |= {"floors": examination.noise.moved(steps[:, at], whole[:, at])}
            yield Breach(
                "K15", "ERROR", (Said(say.WINDOW_DIFFERS, values),),
                ("cache loses the window", "offset after prefill", "window off by one"), law="window",
            )  # fmt: skip
            return


def _ragged(examination: Examination, inputs: Tensor) -> Iterator[Breach]:
    """Rows of different lengths, padded at the left, with their mask: step by step as in one pass."""
    subject, noise = examination.asked, examination.noise
    mask_argument = subject.call.padding
    if mask_argument is None or mask_argument.marking == "count" or len(mask_argument.shape.split()) != 2:
        return
    if any(breach.severity == "ERROR" for breach in examination.breaches):
        return  # a mask that is at fault is at fault here too
    mask = torch.ones(inputs.shape, dtype=torch.bool, device=inputs.device)
    mask[0, :PADS] = False
    positions = None
    if subject.call.positions is not None:
        positions = (mask.long().cumsum(-1) - 1).clamp(min=0)
    try:
        whole = subject.answer(inputs, mask=mask, positions=positions)
        steps = in_pieces(
            examination, inputs, [PROMPT] + [1] * (inputs.shape[1] - PROMPT), positions=positions, mask=mask
        )
    except Exception:
        return  # a cache that takes no mask of the past says so itself
    later = slice(PROMPT, inputs.shape[1])
    if not bool(whole[:, later].isfinite().all()) or not noise.differs(whole[:, later], steps[:, later]):
        return
    said = Said(say.RAGGED_DIFFERS, {"floors": noise.moved(whole[:, later], steps[:, later])})
    suspects = ("padding forgotten in the cache", "positions not from mask")
    if not _pads_matter(examination, inputs, mask, positions):
        suspects = suspects[::-1]
    yield Breach("K15", "WARN", (said,), suspects, law="ragged")


def _pads_matter(examination: Examination, inputs: Tensor, mask: Tensor, positions: Tensor | None) -> bool:
    """Whether a step reads what stands under the padding."""
    answers = [
        in_pieces(examination, each, [PROMPT, 1], positions=positions, mask=mask)[:, -1]
        for each in (inputs, examination.asked.replaced(inputs, ~mask, examination.generator()))
    ]
    return examination.noise.differs(*answers)
