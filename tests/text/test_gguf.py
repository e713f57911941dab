"""Tokenizers from GGUF metadata against transformers' conversion, the library's own parts, and MiniLM's file."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import pre_tokenizers

from clearformer.errors import TokenizerError
from clearformer.text.gguf import chat_template_from_gguf, tokenizer_from_gguf
from clearformer.text.gguf_words import word_patterns


# transformers' conversion knows no `smollm` and cuts digits as GPT-2 does. The model's own file cuts each digit apart,
# which differs only where several spaces stand before a number, and at numbers of more than one byte.
def is_cut_alike(text: str) -> bool:
    numbers = (c for c in text if unicodedata.category(c)[0] == "N")
    return all(c.isascii() for c in numbers) and not re.search(r"\s{2,}(?=\d)", text)


any_text = st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=60)


def test_smollm2_ids_are_those_of_transformers(smollm2, smollm2_oracle, sample):
    expected = smollm2_oracle(sample, split_special_tokens=True)["input_ids"]
    if is_cut_alike(sample):
        assert smollm2.encode(sample) == expected
    assert (
        smollm2.decode(smollm2.encode(sample))
        == smollm2.decode(expected)
        == smollm2_oracle.decode(expected, skip_special_tokens=True)
        == sample
    )


@settings(deadline=None)
@given(text=any_text)
def test_smollm2_ids_on_any_text(smollm2, smollm2_oracle, text):
    if is_cut_alike(text):
        assert smollm2.encode(text) == smollm2_oracle(text, split_special_tokens=True)["input_ids"]


@settings(deadline=None)
@given(text=st.text("a 1½\n'", max_size=40))
def test_smollm2_cuts_digits_as_its_own_file_does(smollm2, smollm2_oracle, text):
    own = smollm2_oracle.backend_tokenizer
    gpt2 = own.pre_tokenizer
    digits = pre_tokenizers.Digits(individual_digits=True)
    own.pre_tokenizer = pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    expected = own.encode(text).ids
    own.pre_tokenizer = gpt2
    assert smollm2.encode(text) == expected


def test_smollm2_names_its_special_tokens(smollm2, smollm2_oracle, smollm2_metadata):
    assert smollm2.special_names == smollm2_oracle.special_tokens_map
    named = (smollm2_oracle.bos_token_id, smollm2_oracle.eos_token_id, smollm2_oracle.pad_token_id)
    assert (smollm2.bos_id, smollm2.eos_id, smollm2.pad_id) == named
    assert smollm2.special_ids == set(smollm2_oracle.added_tokens_decoder)
    assert smollm2.stop_ids == {smollm2_oracle.eos_token_id}
    assert smollm2.vocabulary_size == len(smollm2_oracle)
    assert chat_template_from_gguf(smollm2_metadata) == smollm2_oracle.chat_template


def test_every_known_pattern_is_the_one_transformers_uses(smollm2_metadata):
    from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS

    known = word_patterns()
    assert GGUF_PRE_TOKENIZER_SPLITS.items() <= {name: cut[0] for name, cut in known.items()}.items()
    for name in ("default", "qwen2", "qwen35", "tekken", "gpt-4o", "llama-bpe"):
        changed = smollm2_metadata | {"tokenizer.ggml.pre": name}
        tokenizer = tokenizer_from_gguf(changed)
        assert tokenizer.decode(tokenizer.encode("It's 12345  Größe\n中文")) == "It's 12345  Größe\n中文"


def transformers_sentencepiece(metadata):
    from transformers.integrations.gguf.gguf_tokenizer_mapping import convert_gguf_tokenizer

    keys = {"tokenizer_type": "model", "tokens": "tokens", "scores": "scores", "token_type": "token_type"}
    described = {name: metadata[f"tokenizer.ggml.{key}"] for name, key in keys.items()}
    backend, _ = convert_gguf_tokenizer(metadata["general.architecture"], described)
    backend.encode_special_tokens = True
    return backend


@pytest.mark.parametrize("architecture", ["llama", "gemma", "phi3"])
def test_sentencepiece_ids_are_those_of_transformers(sentencepiece_metadata, architecture, sample):
    metadata = sentencepiece_metadata | {"general.architecture": architecture}
    metadata |= {"tokenizer.ggml.add_space_prefix": False} if architecture == "gemma" else {}
    ours = tokenizer_from_gguf(metadata)
    theirs = transformers_sentencepiece(metadata)
    for text in (sample, "the cat sat", "  the  rat"):
        # Where a text begins with a space, transformers puts none of its own before it; llama.cpp does, and so do we.
        if "</s>" not in text and not (architecture == "llama" and text.startswith(" ")):
            ids = ours.encode(text, special=False)
            assert ids == theirs.encode(text, add_special_tokens=False).ids
            assert ours.decode(ids) == theirs.decode(ids)


def test_sentencepiece_adds_its_begin_mark_unless_told_otherwise(sentencepiece_metadata):
    key = "tokenizer.ggml.add_bos_token"
    plain = tokenizer_from_gguf(sentencepiece_metadata).encode("the cat", special=False)
    assert tokenizer_from_gguf(sentencepiece_metadata).encode("the cat") == [1, *plain]
    assert tokenizer_from_gguf(sentencepiece_metadata | {key: False}).encode("the cat") == plain
    both = {key: True, "tokenizer.ggml.add_eos_token": True}
    assert tokenizer_from_gguf(sentencepiece_metadata | both).encode("the cat") == [1, *plain, 2]


def test_wordpiece_ids_are_those_of_the_models_own_file(minilm, sample):
    words = [minilm.token(token_id) for token_id in range(minilm.vocabulary_size)]
    special = set(minilm.special_ids)
    written = [w if i in special else w[2:] if w.startswith("##") else "▁" + w for i, w in enumerate(words)]
    names = {"cls_token_id": 101, "seperator_token_id": 102, "unknown_token_id": 100, "padding_token_id": 0}
    metadata = {f"tokenizer.ggml.{key}": value for key, value in names.items()} | {
        "tokenizer.ggml.model": "bert",
        "tokenizer.ggml.tokens": written,
        "tokenizer.ggml.token_type": [3 if i in special else 1 for i in range(len(words))],
    }
    ours = tokenizer_from_gguf(metadata)
    assert ours.encode(sample) == minilm.encode(sample)
    assert ours.decode(ours.encode(sample)) == minilm.decode(minilm.encode(sample))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": "rwkv"}, "rwkv is not known"),
        ({"model": None}, "tokenizer.ggml.model"),
        ({"pre": "no-such-cut"}, "no-such-cut is not known"),
        ({"pre": 7}, "tokenizer.ggml.pre"),
        ({"tokens": []}, "tokenizer.ggml.tokens"),
        ({"tokens": ["a" * 100_000]}, "at most 1000 characters"),
        ({"tokens": "abc"}, "tokenizer.ggml.tokens"),
        ({"tokens": [1, 2]}, "tokenizer.ggml.tokens"),
        ({"token_type": [1]}, "tokenizer.ggml.token_type"),
        ({"merges": ["a b c"]}, "tokenizer.ggml.merges"),
        ({"merges": ["zz qq"]}, "does not describe a tokenizer"),
        ({"eos_token_id": 10**9}, "eos_token_id"),
        ({"eos_token_id": -1}, "eos_token_id"),
        ({"eos_token_id": "2"}, "eos_token_id"),
        ({"add_bos_token": 1}, "add_bos_token"),
    ],
)
def test_bad_metadata_is_refused_by_name(smollm2_metadata, change, message):
    changed = smollm2_metadata | {f"tokenizer.ggml.{key}": value for key, value in change.items()}
    with pytest.raises(TokenizerError, match=re.escape(message)):
        tokenizer_from_gguf(changed)


def test_byte_level_needs_merges(smollm2_metadata):
    without = {key: value for key, value in smollm2_metadata.items() if key != "tokenizer.ggml.merges"}
    with pytest.raises(TokenizerError, match=re.escape("tokenizer.ggml.merges")):
        tokenizer_from_gguf(without)
