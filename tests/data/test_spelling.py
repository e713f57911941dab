"""Words spelt anew in each epoch: the same text, a function of seed and epoch, within the length that was said."""

from __future__ import annotations

import numpy as np
import pytest

from clearformer.data.parallel import Pairs
from clearformer.data.spelling import Fixed, Respelt
from clearformer.errors import DataError
from clearformer.text.bpe_dropout import BpeDropout
from clearformer.text.fast import FastTokenizer
from clearformer.text.training import train_bpe

TEXTS = ["the cat sat", "the cat and the other cat", "other cats sat", "the end"] * 5
BEGIN, END = 900, 901


@pytest.fixture(scope="module")
def tokenizer() -> FastTokenizer:
    return train_bpe(TEXTS, 270, {"eos_token": "</s>"})


def respelt(tokenizer: FastTokenizer, dropout: float = 0.4, seed: int = 3) -> Respelt:
    return Respelt(TEXTS, BpeDropout(tokenizer, dropout), before=(BEGIN,), after=(END,), seed=seed)


def test_each_epoch_spells_the_same_texts_otherwise(tokenizer: FastTokenizer) -> None:
    one, again, other = respelt(tokenizer), respelt(tokenizer), respelt(tokenizer, seed=4)
    epochs = [one.epoch(number) for number in range(4)]
    assert [again.epoch(number) for number in (3, 2, 1, 0)] == epochs[::-1]
    assert len({str(epoch) for epoch in [*epochs, other.epoch(0)]}) == 5
    for epoch in epochs:
        assert [tokenizer.decode(ids[1:-1]) for ids in epoch] == TEXTS
        assert {(ids[0], ids[-1]) for ids in epoch} == {(BEGIN, END)}
        assert (np.array(list(map(len, epoch))) <= one.longest()).all()
    assert epochs[0][0] != epochs[0][4], "one text twice in an epoch is drawn twice"


def test_without_dropout_nothing_changes(tokenizer: FastTokenizer) -> None:
    plain = [[BEGIN, *tokenizer.encode(text, special=False), END] for text in TEXTS]
    found = respelt(tokenizer, 0.0)
    assert found.epoch(0) == found.epoch(7) == plain
    assert found.longest().tolist() == Fixed(plain).longest().tolist() == list(map(len, plain))


def test_pairs_stay_within_the_budget_in_every_epoch(tokenizer: FastTokenizer) -> None:
    source, target = respelt(tokenizer), Fixed([[1, 2]] * len(TEXTS))
    most = int((source.longest() + target.longest()).max())
    pairs = Pairs(source, target, budget=most, pads=(0, 0), seed=1)
    for epoch in range(3):
        seen = 0
        for number in range(pairs.count(epoch)):
            batch = pairs.batch(epoch, number)
            assert batch.source.numel() + batch.target.numel() <= most
            seen += len(batch.source)
        assert seen == len(TEXTS)
    with pytest.raises(DataError, match=str(most)):
        Pairs(source, target, budget=most - 1, pads=(0, 0), seed=1)
