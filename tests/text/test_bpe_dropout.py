"""BPE-dropout against the tokenizers library, its own text, and the probabilities of short words."""

from __future__ import annotations

import json
import pydoc_data.topics
import random
from collections import Counter

import pytest

from clearformer.errors import TokenizerError
from clearformer.text.bpe_dropout import BpeDropout
from clearformer.text.fast import FastTokenizer
from clearformer.text.training import train_bpe, train_characters

TEXT = "\n".join(pydoc_data.topics.topics.values())


@pytest.fixture(scope="module")
def tokenizer() -> FastTokenizer:
    return train_bpe([TEXT], 600, {"eos_token": "</s>"}, lowercase=True)


def spelt(tokenizer: FastTokenizer, dropout: float, text: str) -> list[int]:
    spelling, draw = BpeDropout(tokenizer, dropout), random.Random(0)
    return [token for word in spelling.words(text) for token in spelling.spell(word, draw)]


@pytest.mark.parametrize("text", [TEXT[:20_000], "", "  A\n\t b</s>", "Straße 数学 \U0001f600 aaaaaa"])
def test_without_dropout_it_is_the_tokenizer(tokenizer: FastTokenizer, text: str) -> None:
    assert spelt(tokenizer, 0.0, text) == tokenizer.encode(text, special=False)


def test_whatever_is_left_out_the_text_is_the_same(tokenizer: FastTokenizer) -> None:
    text = TEXT[:5_000]
    plain = tokenizer.encode(text, special=False)
    lengths = [len(spelt(tokenizer, share, text)) for share in (0.0, 0.1, 0.5, 1.0)]
    assert lengths[0] == len(plain) < lengths[1] < lengths[2] < lengths[3] == len(text.lower().encode())
    for share in (0.1, 0.5, 1.0):
        assert tokenizer.decode(spelt(tokenizer, share, text)) == text.lower()


def test_the_spellings_of_a_short_word_come_as_often_as_they_should() -> None:
    """Of `abc` with the merges ab and then ab+c, each left out with p at each round, by hand: ab is made with 1 − p,
    then c is joined with 1 − p; bc is no merge."""
    tokenizer, p, count = train_bpe(["abc abc abc ab ab ab ab"], 259, {"eos_token": "</s>"}), 0.3, 20_000
    merges = json.loads(tokenizer.to_json())["model"]["merges"]
    assert merges == [["a", "b"], ["Ġ", "ab"]]
    spelling, draw = BpeDropout(tokenizer, p), random.Random(1)
    found = Counter(len(spelling.spell("Ġab", draw)) for _ in range(count))
    expected = {3: p, 2: (1 - p) * p, 1: (1 - p) ** 2}
    for length, share in expected.items():
        assert found[length] / count == pytest.approx(share, abs=4 * (share * (1 - share) / count) ** 0.5)


def test_a_tokenizer_without_merges_is_refused() -> None:
    with pytest.raises(TokenizerError, match=r"WordLevel.*data\.dropout"):
        BpeDropout(train_characters(["abc"], {"unk_token": "[UNK]"}), 0.1)
