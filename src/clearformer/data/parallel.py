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
from clearformer.data.spelling import Spelt
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


class _Epoch(NamedTuple):
    """Both sides' ids, and the rows of each batch."""

    source: Sequence[Sequence[int]]
    target: Sequence[Sequence[int]]
    batches: list[np.ndarray]


class Pairs:
    """Encoded pairs in batches of like lengths under a budget of source and target tokens; see `buckets`."""

    def __init__(self, source: Spelt, target: Spelt, *, budget: int, pads: tuple[int, int], seed: int | None) -> None:
        """Raises DataError for a pair that is past the budget in some epoch."""
        self._source, self._target, self._pads = source, target, pads
        self._budget, self._seed = budget, seed
        buckets(np.stack((source.longest(), target.longest()), 1), budget, seed=None)
        self._cut: tuple[int, _Epoch] | None = None

    def count(self, epoch: int) -> int:
        return len(self._epoch(epoch).batches)

    def batch(self, epoch: int, number: int) -> PairBatch:
        """These pairs, padded."""
        source, target, batches = self._epoch(epoch)
        rows, (source_pad, target_pad) = batches[number], self._pads
        return PairBatch(
            *padded([source[row] for row in rows], source_pad), *padded([target[row] for row in rows], target_pad)
        )

    def _epoch(self, epoch: int) -> _Epoch:
        """The epoch, spelt and cut once."""
        if self._cut is None or self._cut[0] != epoch:
            source, target = self._source.epoch(epoch), self._target.epoch(epoch)
            lengths = np.array([(len(a), len(b)) for a, b in zip(source, target, strict=True)])
            batches = buckets(lengths, self._budget, seed=self._seed, epoch=epoch)
            self._cut = epoch, _Epoch(source, target, batches)
        return self._cut[1]
