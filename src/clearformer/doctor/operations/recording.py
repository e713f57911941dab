"""A forward pass as a list of its attentions."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from clearformer.doctor.calling.subject import Subject
from clearformer.doctor.operations import origins
from clearformer.doctor.operations.places import Places
from clearformer.doctor.operations.tracker import Tracker
from clearformer.doctor.operations.trail import Scrambling, Site

ROWS, LENGTH, SOURCE = 3, 11, 13
"""Sizes that no model has for anything else, so that a shape tells its axes."""


@dataclass(frozen=True)
class Recording:
    """`answer` is what the module gave meanwhile."""

    sites: tuple[Site, ...]
    scramblings: tuple[Scrambling, ...]
    ignored_hints: tuple[str | None, ...]
    dropouts: tuple[tuple[float, str | None], ...]
    answer: Tensor
    length: int

    def own(self) -> list[Site]:
        """Attentions of the input with itself: queries and keys both come from its tokens."""
        return [
            site
            for site in self.sites
            if site.queries is not None and site.keys is not None and site.visible is not None
            and site.query_length == site.key_length == self.length
        ]  # fmt: skip


def record(subject: Subject, generator: torch.Generator, *, padded: bool = False) -> Recording:
    """One forward pass of random inputs, followed; `padded` gives a mask that hides the ends of two rows."""
    length = subject.length(LENGTH)
    inputs = subject.inputs(ROWS, length, generator)
    reads_source = subject.call.source is not None
    source = subject.inputs(ROWS, subject.length(SOURCE), generator) if reads_source else None
    places = Places()
    with places.followed(subject.module):
        tracker = Tracker(batch_first=subject.call.batch_first, places=places)
        with tracker:
            answer = subject.answer(inputs, mask=_padding(inputs) if padded else None, source=source)
    known = tracker.known
    return Recording(
        tuple(known.sites), tuple(known.scramblings), tuple(known.ignored_hints), tuple(known.dropouts), answer, length
    )  # fmt: skip


def _padding(inputs: Tensor) -> Tensor:
    """True for a real position (B T): the first row is whole."""
    real = torch.ones(inputs.shape[:2], dtype=torch.bool, device=inputs.device)
    for row in range(1, len(real)):
        real[row, real.shape[1] - 2 * row :] = False
    return real


def sight(site: Site) -> tuple[Tensor, Tensor, Tensor]:
    """Who sees whom (T S), as counts: pairs seen, pairs scored, and pairs of tokens of different rows.

    Read from the tokens that the scores belong to, so it does not matter in which order the axes stand.
    """
    assert site.queries is not None
    assert site.keys is not None
    assert site.visible is not None
    query, key = site.queries.flatten(), site.keys.flatten()
    visible = site.visible.expand(site.queries.shape).flatten().cpu()
    real = (query >= 0) & (key >= 0)
    query, key, visible = query[real], key[real], visible[real]
    same = origins.rows(query) == origins.rows(key)
    at = (origins.positions(query).long(), origins.positions(key).long())
    shape = [int(each.max()) + 1 if each.numel() else 0 for each in at]
    tables = []
    for chosen in (visible & same, same, visible & ~same):
        table = torch.zeros(*shape)
        tables.append(table.index_put((at[0][chosen], at[1][chosen]), torch.ones(()), accumulate=True))
    return tables[0], tables[1], tables[2]
