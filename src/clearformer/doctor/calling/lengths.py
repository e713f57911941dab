"""Which lengths a module takes, found by trial: attention in blocks, for one, takes no others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import torch

from clearformer.doctor.calling.subject import LONGEST, Subject
from clearformer.doctor.calling.trying import NoAnswer, Trials, asked, inside
from clearformer.messages import Message, verbatim
from clearformer.messages import doctor_calling as say

ORDINARY = (2, 7, 11)
"""Lengths of which no rule but "any" takes all."""
LIKELY = (64, 48, 60, 32, 56, 50, 24, 16, 12)
"""Multiples of most numbers, for a module that raises under the usual length."""


def with_lengths(subject: Subject) -> Subject:
    """The subject with the lengths that it takes, where it refuses others, each time that it is asked.

    One that takes a single length (and one position, which fits a mask of any size) is left as it is, and so is one
    whose refusals change: that is state, and no rule.
    """
    most = subject.context or LONGEST
    if subject.only_length is not None or all(_takes(subject, each) for each in ORDINARY if each <= most):
        return replace(subject, lengths=())
    taken = tuple(each for each in range(1, most + 1) if _takes(subject, each))
    refused = [each for each in range(1, most + 1) if each not in taken]
    again = [_takes(subject, each) for each in (*refused[-3:], *taken[:3])]
    steady = again == [False] * len(refused[-3:]) + [True] * len(taken[:3])
    return replace(subject, lengths=taken if steady and len([each for each in taken if each > 1]) > 1 else ())


def at_another_length(trials: Trials) -> Subject | None:
    """The call that fits best, where the module answers it under two other lengths than the usual one at least."""
    failed = [subject for subject, error in trials.failures if not isinstance(error, NoAnswer) and inside(error)]
    for subject in failed[:1]:
        for length in (each for each in LIKELY if each <= (subject.context or LONGEST)):
            found = trials.answered(replace(subject, lengths=(length,)))
            if found is not None and len(with_lengths(found).lengths) > 1:
                return found
    return None


def step_of(lengths: Sequence[int]) -> int:
    """The distance of the lengths from each other; 0 where they have several."""
    steps = {after - before for before, after in pairwise(lengths)}
    return steps.pop() if len(steps) == 1 else 0


def lengths_in_words(lengths: Sequence[int]) -> Message:
    """`multiples of 8`, `4 and more`, or the lengths themselves."""
    step = step_of(lengths)
    if step == 1:
        return _said(say.AND_MORE, least=lengths[0])
    if step and lengths[0] == step:
        return _said(say.MULTIPLES, step=step)
    listed = ", ".join(map(str, lengths[:6])) + (" …" if len(lengths) > 6 else "")
    return verbatim(listed, listed)


def _said(message: Message, **values: object) -> Message:
    return verbatim(message.text("en", **values), message.text("zh", **values))


def _takes(subject: Subject, length: int) -> bool:
    return asked(subject, subject.inputs(2, length, torch.Generator().manual_seed(0))) is not None
