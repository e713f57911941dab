"""Tokenizers learnt for speed: equal to the one written to be read, and read equally by Hugging Face."""

from __future__ import annotations

import json
import pydoc_data.topics
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from clearformer.errors import TokenizerError
from clearformer.text.bpe_train import train
from clearformer.text.fast import FastTokenizer
from clearformer.text.load import tokenizer_from_folder
from clearformer.text.training import tokenizer_files, train_bpe, train_characters

SPECIALS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "mask_token": "[MASK]"}
TEXTS = [*list(pydoc_data.topics.topics.values())[:20], "naïve café 😀 注意力", "Ünïcode  \n\n\t x"]
SENTENCES = [
    "The statement is a function.",
    "  naïve\n\n注意力 😀",
    "it 's fine , isn't it ?",
    "",
    "<s> is no mark </s>",
]


@pytest.fixture(scope="module")
def bpe() -> FastTokenizer:
    return train_bpe(TEXTS, 600, SPECIALS)


@pytest.fixture(scope="module")
def characters() -> FastTokenizer:
    return train_characters(TEXTS, {**SPECIALS, "unk_token": "<unk>"})


def test_the_vocabulary_is_that_of_the_readable_trainer(bpe: FastTokenizer) -> None:
    """Compared by the pieces that a text falls into."""
    ours = train(TEXTS, vocabulary_size=600, special_tokens=tuple(SPECIALS.values()))
    assert bpe.vocabulary_size == 600
    for text in (*TEXTS, *SENTENCES):
        plain = text.replace("<s>", "").replace("</s>", "")
        theirs = [bpe.token_bytes(i) for i in bpe.encode(plain, special=False)]
        assert theirs == [ours.token_bytes(i) for i in ours.encode(plain)]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_bytes_come_back_whole(text: str) -> None:
    tokenizer = train_bpe(["a small text, a small text"], 262, SPECIALS)
    assert tokenizer.decode(tokenizer.encode(text, special=False)) == text


@given(st.text(st.sampled_from(sorted(set("".join(TEXTS)))), max_size=40))
def test_each_character_is_one_token(text: str) -> None:
    tokenizer = train_characters(TEXTS, {**SPECIALS, "unk_token": "<unk>"})
    ids = tokenizer.encode(text, special=False)
    assert len(ids) == len(text)
    assert tokenizer.decode(ids) == text


def test_an_unknown_character_is_the_unknown_token(characters: FastTokenizer) -> None:
    ids = characters.encode("a☂b", special=False)
    assert ids[1] == characters.unk_id
    assert characters.decode([ids[0], ids[2]]) == "ab"


@pytest.mark.parametrize("kind", ["bpe", "characters", "lowercase"])
def test_hugging_face_reads_the_files_equally(
    kind: str, bpe: FastTokenizer, characters: FastTokenizer, tmp_path: Path
) -> None:
    lower = train_bpe(TEXTS, 500, SPECIALS, lowercase=True)
    tokenizer = {"bpe": bpe, "characters": characters, "lowercase": lower}[kind]
    for name, content in tokenizer_files(tokenizer).items():
        (tmp_path / name).write_bytes(content)
    again = tokenizer_from_folder(tmp_path)
    for theirs in (AutoTokenizer.from_pretrained(tmp_path), PreTrainedTokenizerFast.from_pretrained(tmp_path)):
        assert len(theirs) == tokenizer.vocabulary_size == again.vocabulary_size
        for name, mark in tokenizer.special_names.items():
            assert getattr(theirs, name) == mark
            assert getattr(theirs, f"{name}_id") == tokenizer.added_tokens[mark] == again.added_tokens[mark]
        for text in SENTENCES[:4]:
            ids = tokenizer.encode(text, special=False)
            assert theirs.encode(text, add_special_tokens=False) == ids == again.encode(text, special=False)
            assert theirs.decode(ids, skip_special_tokens=True) == tokenizer.decode(ids) == again.decode(ids)
        marked = tokenizer.encode(SENTENCES[4], special=False)
        assert tokenizer.special_ids.isdisjoint(marked)


def test_lowercase_reads_every_letter_small(bpe: FastTokenizer) -> None:
    lower = train_bpe(TEXTS, 500, SPECIALS, lowercase=True)
    assert lower.encode("ÜBER Alles", special=False) == lower.encode("über alles", special=False)
    assert lower.decode(lower.encode("ÜBER Alles", special=False)) == "über alles"
    assert bpe.encode("A", special=False) != bpe.encode("a", special=False)


def test_special_tokens_come_first_and_once() -> None:
    specials = {"bos_token": "<|end|>", "eos_token": "<|end|>", "pad_token": "_"}
    for tokenizer in (train_characters(["a_b", "ba"], specials), train_bpe(["a_b ab ab ab"], 259, specials)):
        assert tokenizer.added_tokens == {"<|end|>": 0, "_": 1}
        assert tokenizer.bos_id == tokenizer.eos_id == 0
    files = tokenizer_files(train_characters(["ab"], specials))
    assert json.loads(files["tokenizer.json"])["model"]["vocab"] == {"<|end|>": 0, "_": 1, "a": 2, "b": 3}


def test_a_vocabulary_that_the_text_cannot_give_is_refused() -> None:
    with pytest.raises(TokenizerError, match="gives 264 tokens at most, not 5000"):
        train_bpe(["abc abc abc"], 5000, SPECIALS | {"unk_token": "[UNK]"})
    assert train_bpe(["abc abc abc"], 264, SPECIALS | {"unk_token": "[UNK]"}).vocabulary_size == 264
    with pytest.raises(TokenizerError, match="at least 260"):
        train_bpe(["abc"], 259, SPECIALS)


def test_the_same_text_gives_the_same_files() -> None:
    one, other = (tokenizer_files(train_bpe(TEXTS, 600, SPECIALS)) for _ in range(2))
    assert one == other


def test_a_long_text_is_read_in_lines() -> None:
    """The library counts words by text; where a long one is cut, no word lies."""
    text = "".join(f"word{n % 97} and some more\r\n" for n in range(8000))
    assert len(text) > 100_000
    cut, whole = train_bpe([text], 350, SPECIALS), train_bpe(text.splitlines(keepends=True), 350, SPECIALS)
    assert tokenizer_files(cut) == tokenizer_files(whole)
