"""Windows of packed text: each token predicted once, no document seen from another."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from clearformer.data.packing import EvaluationWindows, PackedText, TokenBatch
from clearformer.loss import IGNORE, shift


@st.composite
def texts(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Ids that tell their own place, and where documents end."""
    ends = np.cumsum(draw(st.lists(st.integers(1, 12), min_size=1, max_size=12)))
    if ends[-1] < 2:
        ends = ends + 1
    return np.arange(ends[-1], dtype=np.uint16), ends


def predicted(batches: list[TokenBatch]) -> list[int]:
    targets = torch.cat([shift(batch.ids, documents=batch.documents)[1].flatten() for batch in batches])
    return targets[targets != IGNORE].tolist()


def firsts(ends: np.ndarray) -> set[int]:
    """The places that no window may predict: a document's first token has nothing of its own before it."""
    return {0, *ends[:-1].tolist()}


@given(texts(), st.integers(1, 9), st.integers(1, 4))
def test_to_measure_every_token_is_predicted_once(text: tuple[np.ndarray, np.ndarray], context: int, size: int) -> None:
    ids, ends = text
    windows = EvaluationWindows(ids, ends, context=context, batch=size)
    batches = [windows.batch(0, number) for number in range(windows.count(0))]
    assert predicted(batches) == sorted(set(range(len(ids))) - firsts(ends))
    assert all(batch.ids.shape[1] == context + 1 and 1 <= len(batch.ids) <= size for batch in batches)


@given(texts(), st.integers(1, 9), st.integers(1, 4), st.integers(0, 3))
def test_to_train_no_token_is_predicted_twice(
    text: tuple[np.ndarray, np.ndarray], context: int, size: int, epoch: int
) -> None:
    ids, ends = text
    context = min(context, len(ids) - 1)
    packed = PackedText(ids, ends, context=context, batch=size, seed=7)
    batches = [packed.batch(epoch, number) for number in range(packed.count(epoch))]
    places = [place for batch in batches for place in batch.ids[:, 1:].flatten().tolist()]
    assert len(places) == len(set(places))
    # What an epoch leaves out: less than a window at each end, and what does not fill a batch.
    assert len(places) > len(ids) - 1 - 2 * context - (size - 1) * context
    found = predicted(batches)
    assert sorted(found) == sorted(set(places) - firsts(ends))
    for batch in batches:
        assert torch.equal(batch.ids, batch.ids[:, :1] + torch.arange(context + 1))
        numbers = np.searchsorted(ends, batch.ids.numpy(), side="right")
        if batch.documents is None:
            assert (numbers == numbers[:, :1]).all()
        else:
            assert np.array_equal(batch.documents.numpy(), numbers)


def test_epochs_differ_and_leave_out_other_tokens() -> None:
    ids, ends = np.arange(1003), np.array([1003])
    packed = PackedText(ids, ends, context=10, batch=4, seed=1)
    epochs = [torch.cat([packed.batch(epoch, n).ids for n in range(packed.count(epoch))]) for epoch in range(60)]
    assert len({int(rows[0, 0]) for rows in epochs}) > 6
    assert len({int(rows.min()) for rows in epochs}) > 3
    assert set(torch.cat(epochs).flatten().tolist()) == set(range(1003))
    assert all(len(rows) % 4 == 0 for rows in epochs)


def test_a_batch_is_a_function_of_epoch_and_number() -> None:
    ids, ends = np.arange(500), np.array([100, 350, 500])
    one, other = (PackedText(ids, ends, context=8, batch=3, seed=2) for _ in range(2))
    asked = [(0, 3), (4, 1), (0, 3), (2, 0)]
    for epoch, number in asked:
        for first, second in zip(one.batch(epoch, number), other.batch(epoch, number), strict=True):
            assert first is second is None or torch.equal(first, second)
    assert not torch.equal(one.batch(0, 3).ids, PackedText(ids, ends, context=8, batch=3, seed=3).batch(0, 3).ids)


def test_a_text_of_less_than_a_batch_is_one_short_batch() -> None:
    packed = PackedText(np.arange(6), np.array([6]), context=5, batch=4, seed=0)
    assert packed.count(0) == 1
    assert packed.batch(0, 0).ids.tolist() == [[0, 1, 2, 3, 4, 5]]


def test_what_fills_the_last_window_is_seen_by_nothing() -> None:
    batch = EvaluationWindows(np.arange(10, 17), np.array([7]), context=4, batch=2).batch(0, 0)
    assert batch.ids.tolist() == [[10, 11, 12, 13, 14], [14, 15, 16, 0, 0]]
    assert batch.documents is not None
    last = batch.documents[1].tolist()
    assert len(set(last)) == 3
    assert len({*last[3:]} - {*last[:3]}) == 2


@pytest.mark.parametrize("kind", [np.uint16, np.uint32])
def test_ids_come_as_whole_numbers_of_torch(kind: type) -> None:
    ids = np.array([1, np.iinfo(kind).max], dtype=kind)
    batch = EvaluationWindows(ids, np.array([2]), context=1, batch=1).batch(0, 0)
    assert batch.ids.dtype == torch.int64
    assert batch.ids.tolist() == [[1, np.iinfo(kind).max]]
