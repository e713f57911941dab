"""Windows of a long text: T + 1 tokens each, of which T are read and T predicted.

Windows may hold several documents; then each token's document number is given, and the model lets no token see another
document. A document is never padded: packing wastes nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from clearformer.data.batches import order, randomness


class TokenBatch(NamedTuple):
    """`documents` numbers each token's document within its window; None where every window holds one alone."""

    ids: Int[Tensor, "B T+1"]
    documents: Int[Tensor, "B T+1"] | None = None


class PackedText:
    """Training windows. Each epoch cuts the text at another offset and shuffles; every window follows the last.

    All batches are full, so that their shape is one: what is past the last full batch, and less than a window at both
    ends, is left out of an epoch, other tokens in each. No token is predicted twice in an epoch.
    """

    def __init__(self, ids: np.ndarray, ends: np.ndarray, *, context: int, batch: int, seed: int) -> None:
        assert len(ids) > context
        self._ids, self._ends = ids, ends
        self._context, self._batch, self._seed = context, batch, seed
        self._drawn: tuple[int, np.ndarray] | None = None

    def count(self, epoch: int) -> int:
        return max(1, len(self._starts(epoch)) // self._batch)

    def batch(self, epoch: int, number: int) -> TokenBatch:
        chosen = self._starts(epoch)[number * self._batch : (number + 1) * self._batch]
        return windows_at(self._ids, self._ends, chosen, self._context)

    def _starts(self, epoch: int) -> np.ndarray:
        """Where the epoch's windows begin, in its order; drawn once."""
        if self._drawn is None or self._drawn[0] != epoch:
            most = min(self._context, len(self._ids) - self._context)
            offset = int(randomness(self._seed, epoch, 0).integers(most))
            windows = (len(self._ids) - 1 - offset) // self._context
            self._drawn = epoch, offset + order(self._seed, epoch, windows) * self._context
        return self._drawn[1]


class EvaluationWindows:
    """The whole text in order: each token but the first is predicted once, the last window as short as it is.

    What fills the last window is a document of its own at each place, so that `shift` leaves it out.
    """

    def __init__(self, ids: np.ndarray, ends: np.ndarray, *, context: int, batch: int) -> None:
        assert len(ids) > 1
        self._ids, self._ends, self._context, self._batch = ids, ends, context, batch
        self._windows = -(-(len(ids) - 1) // context)

    def count(self, epoch: int) -> int:
        return -(-self._windows // self._batch)

    def batch(self, epoch: int, number: int) -> TokenBatch:
        first = number * self._batch
        starts = np.arange(first, min(first + self._batch, self._windows)) * self._context
        return windows_at(self._ids, self._ends, starts, self._context)


def windows_at(ids: np.ndarray, ends: np.ndarray, starts: np.ndarray, context: int) -> TokenBatch:
    """The windows that begin at `starts`; a place past the text holds id 0."""
    places = starts[:, None] + np.arange(context + 1)
    inside = places < len(ids)
    read = np.where(inside, ids[np.minimum(places, len(ids) - 1)].astype(np.int64), 0)
    documents = np.searchsorted(ends, places, side="right")
    documents = np.where(inside, documents, -1 - places)
    alone = (documents == documents[:, :1]).all()
    return TokenBatch(torch.from_numpy(read), None if alone else torch.from_numpy(documents))
