"""Which axis is the batch: seen from where another token's influence goes, and from where positions are counted."""

from __future__ import annotations

import torch

from clearformer.doctor.calling.subject import Subject
from clearformer.doctor.calling.trying import LENGTH, ROWS, Trials, apart, asked, with_call


def laid_out(subject: Subject, trials: Trials) -> Subject:
    """The subject, sequence first where that is how it is meant.

    Attention along the first axis alone is either meant (then positions are counted along it too) or a slip. Where
    neither is seen the module is taken at its word: batch first.
    """
    if not subject.call.batch_first or not subject.per_position or subject.only_length:
        return subject
    rows, positions = mixing(subject)
    if not rows or positions:
        return subject
    turned = trials.answered(with_call(subject, batch_first=False))
    if turned is None or not mixing(turned)[1] or mixing(turned)[0]:
        return subject
    return subject if _counted_along_rows(turned) else turned


def mixing(subject: Subject) -> tuple[bool, bool]:
    """Whether another token moves the answers of other rows at its place, and of other places in its row."""
    inputs = subject.inputs(ROWS, subject.length(LENGTH), torch.Generator().manual_seed(1))
    at = inputs.shape[1] // 2
    only = torch.zeros(inputs.shape[:2], dtype=torch.bool)
    only[1, at] = True
    before = asked(subject, inputs)
    after = asked(subject, subject.replaced(inputs, only, torch.Generator().manual_seed(2)))
    if before is None or after is None:
        return False, False
    moved = apart(before, after)
    return bool(moved[0].any() or moved[2].any()), bool(moved[1, :at].any() or moved[1, at + 1 :].any())


def _counted_along_rows(turned: Subject) -> bool:
    """Whether the same token everywhere gets answers that differ from row to row and not from place to place."""
    inputs = turned.inputs(ROWS, turned.length(LENGTH), torch.Generator().manual_seed(3))
    same = inputs[:1, :1].expand(*inputs.shape).contiguous()
    answer = asked(turned, same)
    if answer is None:
        return False
    by_row = bool(apart(answer, answer[:1].expand_as(answer).contiguous()).any())
    by_place = bool(apart(answer, answer[:, :1].expand_as(answer).contiguous()).any())
    if not by_row and not by_place:
        return turned.call.takes == "ids"  # nothing says that sequence first is meant
    return by_row and not by_place
