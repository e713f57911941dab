"""Laws about what a change of the input does: moved positions, another order, another level."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from clearformer import spec as s
from clearformer.laws import Law
from drawing.inputs import batch
from law_testers.subject import ROWS, Pair, Subject, terms_of

LENGTH = 8


def offset_independence(law: Law, subject: Subject) -> Iterator[Pair]:
    """Every position k further on; a prefix counts from the start, so it is left out where the law says so."""
    ids, positions = subject.ids(LENGTH), torch.arange(LENGTH).expand(ROWS, -1)
    prefix = None if "without a prefix" in law.conditions else torch.tensor([3, 2, 0])
    terms = terms_of(law, subject, prefix=prefix)
    k = int(subject.rng.integers(1, 50))
    here = subject.answer(ids, positions=positions, **terms)
    yield subject.answer(ids, positions=positions + k, **terms), here


def permutation_equivariance(law: Law, subject: Subject) -> Iterator[Pair]:
    ids, order = subject.ids(LENGTH), torch.from_numpy(subject.rng.permutation(LENGTH))
    terms = terms_of(law, subject)
    yield subject.answer(ids[:, order], **terms), subject.answer(ids, **terms)[:, order]


def level_equivariance(law: Law, subject: Subject) -> Iterator[Pair]:
    assert isinstance(subject.stack.input, s.Series)
    window = subject.tensor(batch(subject.stack.input, subject.rng).data)
    level = subject.tensor(subject.rng.uniform(-4, 4, (ROWS, 1, subject.stack.input.channels)))
    yield subject.answer(window + level), subject.answer(window) + level
