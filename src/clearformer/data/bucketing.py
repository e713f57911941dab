"""Batches of rows of like length, each under a budget of tokens counted as they are computed: padding included."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from clearformer.data.batches import order, randomness
from clearformer.errors import DataError
from clearformer.messages import data as say


def buckets(
    lengths: Int[np.ndarray, "rows sides"], budget: int, *, seed: int | None, epoch: int = 0
) -> list[np.ndarray]:
    """Numbers of the rows (at least one), each once: batches whose rows × Σ longest of each side stay within `budget`.

    With a seed, rows of equal length meet others in each epoch and the batches come in random order; without, from the
    shortest to the longest. Raises DataError for a row that alone is past the budget.
    """
    totals = lengths.sum(1)
    worst = int(totals.argmax())
    if totals[worst] > budget:
        raise DataError(say.PAST_BUDGET, number=worst + 1, found=int(totals[worst]), budget=budget)
    start = np.arange(len(lengths)) if seed is None else order(seed, epoch, len(lengths))
    # Sorted by every side, the last key first: the padding of each is small.
    keys = tuple(lengths[start, side] for side in reversed(range(lengths.shape[1])))
    ordered = start[np.lexsort(keys)]
    batches: list[np.ndarray] = []
    first = 0
    longest = np.zeros(lengths.shape[1], dtype=np.int64)
    for place, row in enumerate(ordered):
        grown = np.maximum(longest, lengths[row])
        if (place - first + 1) * int(grown.sum()) > budget:
            batches.append(ordered[first:place])
            first, grown = place, lengths[row]
        longest = grown
    batches.append(ordered[first:])
    if seed is None:
        return batches
    return [batches[number] for number in randomness(seed, epoch, 1).permutation(len(batches))]
