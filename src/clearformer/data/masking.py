"""BERT's objective: hide some tokens and ask for them (Devlin et al. 2018 §3.1, arXiv 1810.04805)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int
from torch import Tensor

from clearformer.data.batches import order, randomness
from clearformer.data.padding import padded

_HIDDEN, _REPLACED = 0.8, 0.9


class MaskedBatch(NamedTuple):
    """Ids as the model reads them, which are no padding, and the true ids where they are asked for (else IGNORE)."""

    ids: Int[Tensor, "B T"]
    real: Bool[Tensor, "B T"]
    targets: Int[Tensor, "B T"]


@dataclass(frozen=True)
class Masking:
    """Which id hides a token, which ids are never hidden or put in a token's place, and how many there are."""

    mask_id: int
    vocabulary: int
    special: Collection[int]
    ignore: int
    share: float = 0.15

    @cached_property
    def plain(self) -> np.ndarray:
        """The ids that are not special."""
        return np.setdiff1d(np.arange(self.vocabulary), list(self.special))


def mask(ids: Int[np.ndarray, " T"], rule: Masking, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Ids with `share` of the plain tokens chosen (at least one, if any): of these 80 % are hidden, 10 % replaced by a
    random token, 10 % left; and the targets, IGNORE where nothing is asked."""
    plain = np.flatnonzero(~np.isin(ids, list(rule.special)))
    targets = np.full(len(ids), rule.ignore, dtype=np.int64)
    changed = ids.astype(np.int64)
    if not len(plain):
        return changed, targets
    count = max(1, round(rule.share * len(plain)))
    chosen = random.choice(plain, size=count, replace=False)
    targets[chosen] = ids[chosen]
    fate = random.random(count)
    changed[chosen[fate < _HIDDEN]] = rule.mask_id
    replaced = chosen[(fate >= _HIDDEN) & (fate < _REPLACED)]
    if len(rule.plain):
        changed[replaced] = random.choice(rule.plain, size=len(replaced))
    return changed, targets


class MaskedWindows:
    """Rows of ids, each hidden anew in every epoch by numbers that belong to the row; in order if there is no seed."""

    def __init__(self, rows: list[np.ndarray], rule: Masking, *, batch: int, pad: int, seed: int | None) -> None:
        self._rows, self._rule, self._batch, self._pad, self._seed = rows, rule, batch, pad, seed

    def count(self, epoch: int) -> int:
        return -(-len(self._rows) // self._batch)

    def batch(self, epoch: int, number: int) -> MaskedBatch:
        """Validation (no seed) hides the same tokens whenever it is asked."""
        count = len(self._rows)
        drawn = np.arange(count) if self._seed is None else order(self._seed, epoch, count)
        chosen = drawn[number * self._batch : (number + 1) * self._batch]
        where = (0, 0) if self._seed is None else (self._seed, epoch)
        pairs = [mask(self._rows[row], self._rule, randomness(*where, int(row))) for row in chosen]
        ids, real = padded([read for read, _ in pairs], self._pad)
        targets, _ = padded([asked for _, asked in pairs], self._rule.ignore)
        return MaskedBatch(ids, real, targets)
