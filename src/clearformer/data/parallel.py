"""Parallel text: sentences in one file, their translations line by line in another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int
from torch import Tensor

from clearformer.data.bucketing import buckets
from clearformer.data.documents import lines
from clearformer.data.padding import padded
from clearformer.errors import DataError
from clearformer.messages import data as say


class PairBatch(NamedTuple):
    """Padded on the right. `target` runs from its begin mark to its end mark: T are read and T predicted."""

    source: Int[Tensor, "B S"]
    source_real: Bool[Tensor, "B S"]
    target: Int[Tensor, "B T+1"]
    target_real: Bool[Tensor, "B T+1"]


def read_pairs(source: Path, target: Path) -> tuple[list[str], list[str]]:
    """Sentences and their translations, pairs with an empty side left out. Raises DataError."""
    first, second = list(lines(source)), list(lines(target))
    if len(first) != len(second):
        values = {"source": source, "target": target, "source_lines": len(first), "target_lines": len(second)}
        raise DataError(say.UNEQUAL_LINES, **values, shorter=source if len(first) < len(second) else target)
    kept = [(a, b) for a, b in zip(first, second, strict=True) if a.strip() and b.strip()]
    if not kept:
        raise DataError(say.EMPTY, path=source)
    return [a for a, _ in kept], [b for _, b in kept]


class Pairs:
    """Encoded pairs in batches of like lengths under a budget of source and target tokens; see `buckets`."""

    def __init__(
        self,
        source: Sequence[Sequence[int]],
        target: Sequence[Sequence[int]],
        *,
        budget: int,
        pads: tuple[int, int],
        seed: int | None,
    ) -> None:
        self._source, self._target, self._pads = source, target, pads
        self._budget, self._seed = budget, seed
        self._lengths = np.array([(len(a), len(b)) for a, b in zip(source, target, strict=True)])
        self._cut: tuple[int, list[np.ndarray]] | None = None
        self._batches(0)

    def count(self, epoch: int) -> int:
        return len(self._batches(epoch))

    def batch(self, epoch: int, number: int) -> PairBatch:
        return self.rows(self._batches(epoch)[number])

    def rows(self, chosen: np.ndarray) -> PairBatch:
        """These pairs as a batch."""
        source = padded([self._source[row] for row in chosen], self._pads[0])
        return PairBatch(*source, *padded([self._target[row] for row in chosen], self._pads[1]))

    def _batches(self, epoch: int) -> list[np.ndarray]:
        """The epoch's batches, cut once."""
        if self._cut is None or self._cut[0] != epoch:
            self._cut = epoch, buckets(self._lengths, self._budget, seed=self._seed, epoch=epoch)
        return self._cut[1]
