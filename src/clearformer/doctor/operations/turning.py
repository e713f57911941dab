"""How an attention's queries, keys and values depend on their place alone: one token, repeated, and what is turned.

Where a layer is given the same vector at every place, its values are the same at every place; queries and keys that
are not have been turned by their position. A product of two turned vectors is one of their distance (RoFormer,
section 3.2, arXiv 2104.09864): the table of products is the same along each diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from clearformer.doctor.calling.subject import Subject
from clearformer.doctor.operations import origins
from clearformer.doctor.operations.following import Followed
from clearformer.doctor.operations.operation import PRODUCTS, Operation
from clearformer.doctor.operations.places import Places
from clearformer.doctor.operations.tracker import Tracker

LENGTH = 12


@dataclass
class Turned:
    """One attention's vectors by place (T, features of all heads together); None where they could not be followed."""

    place: str | None
    query: Tensor
    key: Tensor
    value: Tensor | None = None


@dataclass
class _Reading:
    """Notes the operands of every attention."""

    found: list[Turned] = field(default_factory=list)

    def edited(self, operation: Operation, known: Followed) -> Operation:
        if operation.name == "fused attention":
            parts = [_by_place(operation.argument(i, name), known) for i, name in enumerate(("query", "key", "value"))]
            if parts[0] is not None and parts[1] is not None:
                self.found.append(Turned(known.place(), parts[0], parts[1], parts[2]))
        elif operation.name in PRODUCTS:
            self._written(operation, known)
        return operation

    def _written(self, operation: Operation, known: Followed) -> None:
        followed = list(known.tracked(operation))[-2:]
        if len(followed) != 2:
            return
        plain = [each for each, trail in followed if trail.role == "plain"]
        if len(plain) == 2:
            query, key = (_by_place(each, known) for each in plain)
            if query is not None and key is not None:
                self.found.append(Turned(known.place(), query, key))
        elif len(plain) == 1 and self.found and self.found[-1].value is None:
            self.found[-1].value = _by_place(plain[0], known)


def _by_place(tensor: Any, known: Followed) -> Tensor | None:
    """The numbers of the first row (T, ·), sorted by the position to which they belong."""
    trail = known.of(tensor)
    if trail is None or trail.origin is None or not torch.is_tensor(tensor):
        return None
    origin = trail.origin.flatten()
    numbers = tensor.detach().double().cpu().flatten()
    mine = (origins.rows(origin) == 0) & (origin >= 0)
    places = origins.positions(origin[mine])
    length = int(places.max()) + 1 if places.numel() else 0
    if length < 2 or places.numel() % length:
        return None
    order = places.argsort(stable=True)
    return numbers[mine][order].view(length, -1)


def turned(subject: Subject) -> list[Turned]:
    """Every attention of one token, repeated."""
    one = subject.inputs(1, 1, torch.Generator().manual_seed(5))
    length = subject.length(LENGTH)
    inputs = one.expand(2, length, *one.shape[2:]).contiguous()
    reading, places = _Reading(), Places()
    with (
        places.followed(subject.module),
        Tracker(reading, batch_first=subject.call.batch_first, places=places),
    ):
        subject.answer(inputs)
    return reading.found


def moves(vectors: Tensor, slack: float) -> bool:
    """Whether vectors differ from place to place."""
    return float((vectors - vectors[:1]).abs().max()) > slack * max(float(vectors.abs().max()), 1e-9)


def keeps_length(vectors: Tensor, slack: float) -> bool:
    """Whether they are of one length everywhere, as those that were turned are."""
    lengths = vectors.norm(dim=-1)
    return float(lengths.max() - lengths.min()) <= slack * max(float(lengths.max()), 1e-9)


def by_distance(query: Tensor, key: Tensor, slack: float) -> bool:
    """Whether their products are the same wherever the distance is."""
    table = query @ key.T
    apart = (table[1:, 1:] - table[:-1, :-1]).abs().max()
    return float(apart) <= slack * float(query.norm(dim=-1).max() * key.norm(dim=-1).max())
