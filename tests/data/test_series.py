"""Windows and splits: every forecast in its own split, no row of a later one in training, batches pure."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from clearformer.data.made import cyclic, sine
from clearformer.data.series import Spans, Windows, forecast_starts, spans_by_rows, spans_by_shares, windows
from clearformer.errors import DataError
from clearformer.messages import series as say


def test_ett_has_the_windows_of_the_literature() -> None:
    spans = spans_by_rows(17420, (8640, 2880, 2880))
    assert spans == Spans((0, 8640), (8640, 11520), (11520, 14400))
    counts = [len(forecast_starts(span, 336, 96, say.TEST)) for span in (spans.training, spans.validation, spans.test)]
    assert counts == [8640 - 336 - 96 + 1, 2880 - 96 + 1, 2880 - 96 + 1]


@given(st.integers(30, 500), st.integers(1, 8), st.integers(1, 8))
def test_windows_stay_in_their_split(total: int, lookback: int, horizon: int) -> None:
    spans = spans_by_shares(total, (0.5, 0.3, 0.2))
    assert spans.training[0] == 0
    assert spans.test[1] == total
    assert spans.training[1] == spans.validation[0] < spans.validation[1] == spans.test[0]
    values = torch.arange(total).float()[:, None]
    for span in (spans.training, spans.validation, spans.test):
        if span[1] - span[0] < lookback + horizon:
            continue
        starts = forecast_starts(span, lookback, horizon, say.TEST)
        history, future = windows(values, torch.tensor(starts), lookback, horizon)
        whole = torch.cat((history, future), 1)[..., 0]
        assert (whole.diff(dim=1) == 1).all()
        assert future.min() == max(span[0], lookback)
        assert future.max() == span[1] - 1


def test_too_few_rows_and_bad_splits_are_refused() -> None:
    with pytest.raises(DataError, match=r"validation rows are too few.*need 8, found 7"):
        forecast_starts((10, 17), 4, 8, say.VALIDATION)
    with pytest.raises(DataError, match=r"training rows are too few.*need 12, found 11"):
        forecast_starts((0, 11), 4, 8, say.TRAINING)
    with pytest.raises(DataError, match="asks for 101 rows; the table has 100"):
        spans_by_rows(100, (50, 25, 26))
    for shares in ((0.7, 0.0, 0.3), (0.7, 0.2, 0.2), (float("nan"), 0.1, 0.1)):
        with pytest.raises(DataError, match="shares"):
            spans_by_shares(100, shares)


def test_batches_are_pure_and_cover_an_epoch() -> None:
    values = torch.arange(40.0)[:, None]
    batches = Windows(values, range(5, 30), lookback=5, horizon=2, size=4, seed=3)
    assert batches.count(0) == 6
    seen = [batches.batch(1, number) for number in range(6)]
    for number in (4, 1):
        assert torch.equal(batches.batch(1, number).history, seen[number].history)
    firsts = torch.cat([batch.future[:, 0, 0] for batch in seen])
    assert len(firsts.unique()) == 24
    assert not torch.equal(batches.batch(0, 0).future, seen[0].future)
    assert Windows(values, range(5, 7), 5, 2, size=4, seed=0).batch(0, 0).history.shape == (2, 5, 1)


def test_sines_are_sines_and_persistence_is_poor() -> None:
    """A sine obeys x(t+1) + x(t−1) = 2 cos(ω·0.1) · x(t), whatever its phase."""
    table = sine()
    middle = table.values[1:-1]
    ratio = ((table.values[2:] + table.values[:-2]) * middle).sum(0) / (middle**2).sum(0)
    np.testing.assert_allclose(table.values[2:] + table.values[:-2], ratio * middle, atol=1e-9)
    frequencies = np.arccos(ratio / 2) / 0.1
    assert ((frequencies > 0.5) & (frequencies < 2)).all()
    assert len(np.unique(frequencies.round(6))) == 16
    assert np.mean((table.values[16:] - table.values[:-16]) ** 2) > 0.5
    np.testing.assert_array_equal(sine().values, table.values)


def test_cyclic_texts_count_on() -> None:
    texts = cyclic("training")
    assert {text[0] for text in texts} == set("0123456789")
    for text in (*texts, *cyclic("validation")):
        assert all(int(after) == (int(before) + 1) % 10 for before, after in pairwise(text))
