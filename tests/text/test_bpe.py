"""Our byte-level BPE against the `tokenizers` library: the same merges, ids, tokens and text."""

from __future__ import annotations

import json
import pydoc_data.topics
import unicodedata
from itertools import islice

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import decoders, models, pre_tokenizers, trainers

from clearformer.errors import TokenizerError
from clearformer.text.bpe import BytePairEncoding, join_pair, split_words
from clearformer.text.bpe_train import count_words, merge_steps, train
from clearformer.text.byte_alphabet import byte_of_character, character_of_byte, spell, unspell

SPECIAL = ("<|end|>", "<|user|>")
CORPUS = [
    *pydoc_data.topics.topics.values(),
    "注意力就是你所需要的一切。注意力！",
    "naïve café 😀😀 Ελληνικά  \n\n\t x",
]
# Characters that Unicode has named since long: the two pattern engines hold different versions of its tables.
text_of_all = st.text(st.characters(exclude_categories=["Cs", "Cn", "Co"])).filter(
    lambda text: all(unicodedata.category(c) != "Cn" for c in text)
)


def library_bpe(texts, size, special=(), **options):
    backend = tokenizers.Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    options |= {"special_tokens": list(special), "initial_alphabet": alphabet, "show_progress": False}
    backend.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=size, **options))
    backend.encode_special_tokens = True
    return backend


def vocabulary_and_merges(backend):
    model = json.loads(backend.to_str())["model"]
    return model["vocab"], [tuple(merge) for merge in model["merges"]]


def assert_same(ours: BytePairEncoding, library):
    vocabulary, merges = vocabulary_and_merges(library)
    assert ours.ids == vocabulary
    assert [(ours.vocabulary[left], ours.vocabulary[right]) for left, right in ours.merges] == merges


@pytest.fixture(scope="module")
def ours():
    return train(CORPUS, vocabulary_size=1500, special_tokens=SPECIAL)


@pytest.fixture(scope="module")
def library():
    return library_bpe(CORPUS, 1500, SPECIAL)


def test_alphabet_is_the_librarys_and_invertible():
    assert set(character_of_byte()) == set(pre_tokenizers.ByteLevel.alphabet())
    assert spell(b" a") == "Ġa"
    assert unspell(spell(bytes(range(256)))) == bytes(range(256))
    assert len(byte_of_character()) == 256


def test_training_a_real_corpus_gives_the_librarys_merges(ours, library):
    assert len(ours.vocabulary) == 1500
    assert_same(ours, library)


@settings(deadline=None)
@given(
    st.lists(st.text("ab c\n", max_size=60), max_size=4),
    st.integers(256, 330),
    st.integers(0, 4),
)
def test_training_breaks_ties_as_the_library_does(texts, size, min_frequency):
    ours = train(texts, vocabulary_size=size, min_frequency=min_frequency)
    assert_same(ours, library_bpe(texts, size, min_frequency=min_frequency))


@settings(deadline=None)
@given(text_of_all)
def test_encoding_and_decoding_any_text_as_the_library_does(ours, library, text):
    ids = ours.encode(text)
    assert ids == library.encode(text).ids
    assert ours.decode(ids) == text


@settings(deadline=None)
@given(st.text("aber ' s\n\t09é中😀", max_size=80))
def test_encoding_dense_text_as_the_library_does(ours, library, text):
    assert ours.encode(text) == library.encode(text).ids


@settings(deadline=None)
@given(st.lists(st.integers(0, 1499), max_size=12), st.booleans())
def test_decoding_any_ids_as_the_library_does(ours, library, ids, skip):
    assert ours.decode(ids, skip_special=skip) == library.decode(ids, skip_special_tokens=skip)


def test_a_long_run_takes_no_quadratic_time(ours, library):
    text = "a" * 20_000 + " " * 20_000
    assert ours.encode(text) == library.encode(text).ids


def test_a_file_goes_to_the_library_and_back(ours, tmp_path):
    path = tmp_path / "tokenizer.json"
    ours.save(path)
    library = tokenizers.Tokenizer.from_file(str(path))
    library.encode_special_tokens = True
    for text in CORPUS[-3:]:
        assert ours.encode(text) == library.encode(text).ids
        assert ours.decode(ours.encode(text)) == library.decode(library.encode(text).ids)
    library.save(str(path))
    assert BytePairEncoding.load(path) == ours


def test_special_strings_in_text_are_text(ours):
    ids = ours.encode("<|end|>")
    assert not set(ids) & {0, 1}
    assert ours.decode([0, *ids]) == "<|end|>"
    assert ours.decode([0], skip_special=False) == "<|end|>"


def test_steps_of_training_and_of_encoding_can_be_watched():
    counts = count_words(["low low low lower"])
    assert counts == {"low": 1, "Ġlow": 2, "Ġlower": 1}
    vocabulary = sorted(character_of_byte())
    steps = list(islice(merge_steps(counts, vocabulary), 3))
    assert [(step.word, step.count) for step in steps] == [("lo", 4), ("low", 4), ("Ġlow", 3)]
    bpe = train(["low low low lower"], vocabulary_size=259)
    shown = [[bpe.vocabulary[i] for i in ids] for ids in bpe.word_steps(" lower")]
    assert shown[0] == list("Ġlower")
    assert shown[-1] == ["Ġlow", "e", "r"]
    assert join_pair([1, 1, 1], (1, 1), 2) == [2, 1]
    assert split_words("it's 10 o'clock") == ["it", "'s", " 10", " o", "'", "clock"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"texts": ["a"], "vocabulary_size": 256, "special_tokens": ["<|end|>"]},
        {"texts": ["a"], "vocabulary_size": 300, "special_tokens": ["a"]},
        {"texts": ["the the the"], "vocabulary_size": 300, "special_tokens": ["the"]},
        {"texts": ["\ud800"], "vocabulary_size": 300},
        {"texts": [b"bytes"], "vocabulary_size": 300},
    ],
)
def test_impossible_training_is_refused(arguments):
    texts = arguments.pop("texts")
    with pytest.raises(TokenizerError):
        train(texts, **arguments)


def test_foreign_files_and_bad_merges_are_refused(ours, tmp_path, minilm_folder):
    with pytest.raises(TokenizerError, match="not a plain byte-level BPE"):
        BytePairEncoding.load(minilm_folder / "tokenizer.json")
    path = tmp_path / "tokenizer.json"
    for field, value in [("model", 3), ("model", {"type": "BPE"}), ("normalizer", {"type": "NFC"})]:
        ours.save(path)
        path.write_text(json.dumps(json.loads(path.read_text()) | {field: value}))
        with pytest.raises(TokenizerError):
            BytePairEncoding.load(path)
    with pytest.raises(TokenizerError, match="earlier merge"):
        BytePairEncoding(ours.vocabulary, ours.merges[::-1], SPECIAL)
    for token_id in (-1, 1500):
        with pytest.raises(TokenizerError, match="0 to 1499"):
            ours.decode([token_id])
