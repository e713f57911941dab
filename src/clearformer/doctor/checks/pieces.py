"""Reading in pieces with a cache, and where the answers first part from those of one pass (a part of K15)."""

from __future__ import annotations

import torch
from torch import Tensor

from clearformer.doctor.calling.caches import Reading
from clearformer.doctor.examination import Examination

PROMPT = 5


def in_pieces(
    examination: Examination,
    inputs: Tensor,
    sizes: list[int],
    positions: Tensor | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The answers to the inputs, read in pieces of these sizes; a module of last answers gives fewer."""
    reading = Reading(examination.asked, len(inputs))
    answers, start = [], 0
    for size in sizes:
        piece = inputs[:, start : start + size]
        if not piece.shape[1]:
            break
        given: dict[str, Tensor] = {}
        if positions is not None:
            given["positions"] = positions[:, start : start + size]
        if mask is not None:
            given["mask"] = mask[:, : start + size]
        answer = reading.read(piece, **given)
        missing = piece.shape[1] - answer.shape[1]
        answers.append(torch.cat([answer.new_full((len(answer), missing, *answer.shape[2:]), float("nan")), answer], 1))
        start += size
    return torch.cat(answers, 1)


def differ(examination: Examination, one: Tensor, other: Tensor) -> bool:
    length = min(one.shape[1], other.shape[1])
    return examination.noise.differs(one[:, -length:], other[:, -length:])


def first_difference(examination: Examination, pieces: Tensor, whole: Tensor) -> int | None:
    """The first position whose answer is another; those that were not answered are passed over."""
    for at in range(pieces.shape[1]):
        if bool(pieces[:, at].isnan().all()) and bool(whole[:, at].isfinite().any()) and at < PROMPT - 1:
            continue
        if examination.noise.differs(pieces[:, at], whole[:, at]):
            return at
    return None
