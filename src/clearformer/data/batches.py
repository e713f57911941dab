"""Batches that are pure functions of the epoch and their number in it.

Nothing else decides what a batch holds: not how many workers read it, not where a run was stopped. The state of a
loader is therefore two numbers, and a run resumes at the very sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

Batch = TypeVar("Batch", covariant=True)


class Batches(Protocol[Batch]):
    """One split of a data set, cut into batches (a NamedTuple of tensors each)."""

    def count(self, epoch: int) -> int:
        """How many batches this epoch has; at least 1."""

    def batch(self, epoch: int, number: int) -> Batch:
        """Batch `number`, from 0, of this epoch."""


@dataclass(frozen=True)
class Position:
    """The batch that is read next."""

    epoch: int = 0
    batch: int = 0

    def facts(self) -> dict[str, int]:
        """As JSON."""
        return {"epoch": self.epoch, "batch": self.batch}

    @classmethod
    def of(cls, facts: Mapping[str, int]) -> Position:
        return cls(int(facts["epoch"]), int(facts["batch"]))


def randomness(seed: int, *where: int) -> np.random.Generator:
    """The random numbers of one place, such as (seed, epoch) or (seed, epoch, sample); equal places draw equally."""
    # NumPy takes (s, e) for (s, e, 0): the number of words keeps places of different depth apart.
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, len(where), *where])))


def order(seed: int, epoch: int, count: int) -> np.ndarray:
    """The samples 0 … count − 1 in this epoch's order."""
    return randomness(seed, epoch).permutation(count)
