"""Batches of like length: each row once, the budget kept, little padding, another mix in each epoch."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.data.batches import randomness
from clearformer.data.bucketing import buckets
from clearformer.errors import DataError

LENGTHS = st.lists(st.tuples(st.integers(1, 12), st.integers(1, 12)), min_size=1, max_size=60).map(np.array)


def cost(lengths: np.ndarray, rows: np.ndarray) -> int:
    """Tokens of a batch as it is computed, padding included."""
    return int(len(rows) * lengths[rows].max(0).sum())


@given(LENGTHS, st.integers(24, 200), st.none() | st.integers(0, 9), st.integers(0, 3))
def test_each_row_once_within_the_budget(lengths: np.ndarray, budget: int, seed: int | None, epoch: int) -> None:
    batches = buckets(lengths, budget, seed=seed, epoch=epoch)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    assert all(len(rows) for rows in batches)
    assert max(cost(lengths, rows) for rows in batches) <= budget
    again = buckets(lengths, budget, seed=seed, epoch=epoch)
    assert [rows.tolist() for rows in batches] == [rows.tolist() for rows in again]


@given(LENGTHS, st.integers(24, 200))
def test_no_batch_had_room_for_the_next_row(lengths: np.ndarray, budget: int) -> None:
    batches = buckets(lengths, budget, seed=None)
    for rows, following in pairwise(batches):
        assert cost(lengths, np.append(rows, following[0])) > budget
    first = lengths[np.concatenate(batches), 0]
    assert (np.diff(first) >= 0).all()


def test_like_lengths_are_padded_little_and_epochs_mix() -> None:
    lengths = randomness(0).integers(3, 40, (4000, 1)) + randomness(1).integers(0, 4, (4000, 2))
    epochs = [buckets(lengths, 2000, seed=5, epoch=epoch) for epoch in range(2)]
    for batches in epochs:
        computed = sum(cost(lengths, rows) for rows in batches)
        assert lengths.sum() / computed > 0.95
        # In random order: the lengths of neighbours are unrelated.
        means = np.array([lengths[rows].mean() for rows in batches])
        assert abs(np.corrcoef(means[:-1], means[1:])[0, 1]) < 0.3
    # The longest rows come at another moment in each epoch.
    assert len({int(np.argmax([lengths[rows].max() for rows in batches])) for batches in epochs}) == 2
    one, other = ({frozenset(rows.tolist()) for rows in batches} for batches in epochs)
    assert len(one & other) < len(one) / 2


def test_a_row_past_the_budget_is_named() -> None:
    with pytest.raises(DataError, match="Sentence 2 has 30 tokens, more than the 29 of a batch"):
        buckets(np.array([[3, 4], [20, 10], [5, 5]]), 29, seed=0)
    assert len(buckets(np.array([[3, 4], [20, 10], [5, 5]]), 30, seed=0)) == 2
