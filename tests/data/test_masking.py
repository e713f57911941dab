"""BERT's masking: what is hidden, what is asked, and what is left alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from clearformer.data.batches import randomness
from clearformer.data.masking import MaskedWindows, Masking, mask

IGNORE = -100
RULE = Masking(mask_id=3, vocabulary=50, special={0, 1, 2, 3}, ignore=IGNORE)
PAD = 0


@given(st.lists(st.integers(0, 49), max_size=40), st.integers(0, 9), st.sampled_from([0.1, 0.15, 0.5, 1.0]))
def test_a_row_asks_for_its_own_plain_tokens(row: list[int], seed: int, share: float) -> None:
    rule = Masking(mask_id=3, vocabulary=50, special={0, 1, 2, 3}, ignore=IGNORE, share=share)
    ids = np.array(row, dtype=np.int64)
    changed, targets = mask(ids, rule, randomness(seed))
    asked = targets != IGNORE
    plain = int((ids > 3).sum())
    assert asked.sum() == (max(1, round(share * plain)) if plain else 0)
    assert (targets[asked] == ids[asked]).all()
    assert (ids[asked] > 3).all()
    assert (changed[~asked] == ids[~asked]).all()
    assert ((changed[asked] == 3) | (changed[asked] > 3)).all()


def test_of_what_is_asked_eight_tenths_are_hidden_and_one_replaced() -> None:
    """Within five deviations of a binomial count. A replacement is the token itself once in 46."""
    ids = randomness(0).integers(4, 50, 40_000)
    changed, targets = mask(ids, RULE, randomness(1))
    asked = targets != IGNORE
    n = int(asked.sum())
    assert n == 6000
    replaced = 0.1 * 45 / 46
    counts = {0.8: changed[asked] == 3, 0.1 + 0.1 / 46: changed[asked] == ids[asked]}
    counts[replaced] = (changed[asked] != 3) & (changed[asked] != ids[asked])
    for share, found in counts.items():
        assert abs(found.sum() - share * n) < 5 * np.sqrt(n * share * (1 - share))
    assert len(set(changed[asked & (changed != 3) & (changed != ids)].tolist())) == 46


def rows(count: int = 7) -> list[np.ndarray]:
    return [np.concatenate(([1], randomness(9, n).integers(4, 50, 5 + n), [2])) for n in range(count)]


@pytest.mark.parametrize("seed", [None, 4])
def test_every_row_once_and_padding_asks_for_nothing(seed: int | None) -> None:
    windows = MaskedWindows(rows(), RULE, batch=3, pad=PAD, seed=seed)
    seen = []
    for number in range(windows.count(0)):
        batch = windows.batch(0, number)
        assert (batch.ids[~batch.real] == PAD).all()
        assert (batch.targets[~batch.real] == IGNORE).all()
        true = torch.where(batch.targets == IGNORE, batch.ids, batch.targets)
        seen += [row[real].tolist() for row, real in zip(true, batch.real, strict=True)]
    assert sorted(seen) == sorted(row.tolist() for row in rows())
    assert (seed is None) == (seen == [row.tolist() for row in rows()])


def drawn(windows: MaskedWindows, epoch: int) -> dict[tuple[int, ...], list[int]]:
    """How each row is hidden, whatever batch it came in."""
    found = {}
    for number in range(windows.count(epoch)):
        for ids, real, targets in zip(*windows.batch(epoch, number), strict=True):
            true = torch.where(targets == IGNORE, ids, targets)
            found[tuple(true[real].tolist())] = ids[real].tolist()
    return found


def test_a_row_is_hidden_alike_in_every_batch_and_anew_in_every_epoch() -> None:
    one, other = (MaskedWindows(rows(), RULE, batch=size, pad=PAD, seed=4) for size in (2, 5))
    assert drawn(one, 0) == drawn(other, 0) != drawn(one, 1)
    assert drawn(one, 1) == drawn(other, 1)


def test_validation_hides_the_same_tokens_always() -> None:
    one, other = (MaskedWindows(rows(), RULE, batch=size, pad=PAD, seed=None) for size in (2, 7))
    assert drawn(one, 0) == drawn(other, 0) == drawn(one, 3)
