"""Tokenizers of model folders against transformers; the special-token law; files and arguments that cannot be used."""

from __future__ import annotations

import json
import os
import shutil

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import models

from clearformer.errors import TokenizerError
from clearformer.messages import text as messages
from clearformer.text import files
from clearformer.text.display import CONTINUED, display_tokens
from clearformer.text.fast import FastTokenizer, library_errors
from clearformer.text.load import chat_template_from_folder, tokenizer_from_folder


@pytest.fixture(scope="module")
def minilm_oracle(minilm_folder):
    os.environ["HF_HUB_OFFLINE"] = "1"
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(str(minilm_folder))


def test_minilm_ids_and_text_are_those_of_transformers(minilm, minilm_oracle, sample):
    ids = minilm_oracle(sample, split_special_tokens=True)["input_ids"]
    assert minilm.encode(sample) == ids
    assert minilm.encode(sample, special=False) == ids[1:-1]
    assert minilm.decode(ids) == minilm_oracle.decode(ids, skip_special_tokens=True)
    assert minilm.decode(ids, skip_special=False) == minilm_oracle.decode(ids)


def test_long_text_is_neither_cut_nor_padded(minilm):
    assert len(minilm.encode("word " * 1000)) == 1002
    assert len(minilm.encode("word")) == 3


def test_minilm_names_its_special_tokens(minilm, minilm_oracle):
    assert (minilm.pad_id, minilm.unk_id, minilm.bos_id, minilm.eos_id) == (0, 100, None, None)
    assert minilm.special_names == minilm_oracle.special_tokens_map
    assert minilm.special_ids == set(minilm_oracle.all_special_ids)


def unigram_with_marks() -> FastTokenizer:
    """Unigram holds `</s>` as an ordinary piece, so that its model alone would spell the special token."""
    pieces = [("<unk>", 0.0), ("</s>", -1.0), ("<", -5.0), ("/", -5.0), ("s", -5.0), (">", -5.0), ("a", -2.0)]
    backend = tokenizers.Tokenizer(models.Unigram(pieces, unk_id=0))
    return FastTokenizer(backend, {"eos_token": "</s>", "unk_token": "<unk>"})


@settings(deadline=None)
@given(data=st.data())
def test_special_strings_in_text_never_become_special_tokens(smollm2, minilm, sentencepiece, data):
    for tokenizer in (smollm2, minilm, sentencepiece, unigram_with_marks()):
        special = [s for s, i in tokenizer.added_tokens.items() if i in tokenizer.special_ids]
        parts = st.one_of(st.sampled_from(special), st.sampled_from(["a", " ", "<", ">", "s>", "|", "</", "[", "]"]))
        text = "".join(data.draw(st.lists(parts, max_size=6)))
        forbidden = tokenizer.special_ids
        if tokenizer.unk_id is not None and tokenizer.spelling == "words":
            # Here the unknown token is also what ordinary unknown characters become.
            forbidden = forbidden - {tokenizer.unk_id}
        assert not forbidden & set(tokenizer.encode(text, special=False))
        assert not forbidden & set(tokenizer.encode_literal(text))


def test_models_that_spell_a_special_token_are_kept_from_it(sentencepiece):
    tokenizer = unigram_with_marks()
    assert [tokenizer.token(i) for i in tokenizer.encode("a</s>a")] == ["a", "<", "/", "s", ">", "a"]
    assert tokenizer.encode_trusted("a</s>a") == [6, 1, 6]
    assert sentencepiece.decode(sentencepiece.encode("a</s>")) == "a</s>"
    assert sentencepiece.added_tokens["<tool>"] in sentencepiece.encode("a<tool>")
    assert sentencepiece.added_tokens["<tool>"] not in sentencepiece.encode_literal("a<tool>")


def test_token_bytes_join_to_the_text(smollm2, sentencepiece, sample):
    ids = smollm2.encode(sample)
    assert b"".join(map(smollm2.token_bytes, ids)) == sample.encode()
    ids = sentencepiece.encode(sample, special=False)
    # One space is put before every text, also before one that begins with its own, as llama.cpp does.
    assert b"".join(map(sentencepiece.token_bytes, ids)).removeprefix(b" ") == sample.encode()


def test_tokens_are_shown_whole(smollm2, minilm, sentencepiece, sample):
    for tokenizer in (smollm2, sentencepiece):
        ids = tokenizer.encode(sample, special=False)
        shown = display_tokens(tokenizer, ids)
        assert len(shown) == len(ids)
        assert "".join(shown).replace(CONTINUED, "").lstrip(" ") == sample.replace(CONTINUED, "").lstrip(" ")
    ids = smollm2.encode("😀")
    assert display_tokens(smollm2, ids) == ["😀"] + [CONTINUED] * (len(ids) - 1)
    assert "\\xf0" in display_tokens(smollm2, ids[:1])[0]
    assert display_tokens(minilm, minilm.encode("tokenizer")) == ["[CLS]", "token", "##izer", "[SEP]"]


@pytest.mark.parametrize("bad", [-1, 10**9, 2.5, None, "1"])
def test_ids_outside_the_vocabulary_are_refused(minilm, bad):
    for use in (lambda: minilm.decode([bad]), lambda: minilm.token(bad), lambda: minilm.token_bytes(bad)):
        with pytest.raises(TokenizerError, match="0 to 30521"):
            use()


@pytest.mark.parametrize("bad", ["\ud800", "a\udfff", None, b"bytes", 3])
def test_text_that_is_none_is_refused(minilm, bad):
    for encode in (minilm.encode, minilm.encode_trusted, minilm.encode_literal):
        with pytest.raises(TokenizerError):
            encode(bad)


@pytest.mark.parametrize(
    "contents",
    [b"", b"{", b"[]", b"null", b"{}", b'{"model": 3}', b"\xff\xfe", b"[" * 100_000, b'{"model": {"type": "BPE"}}'],
)
def test_damaged_files_are_refused(tmp_path, contents):
    (tmp_path / "tokenizer.json").write_bytes(contents)
    with pytest.raises(TokenizerError):
        tokenizer_from_folder(tmp_path)


def test_cut_and_changed_files_give_only_our_error(tmp_path, minilm_folder):
    whole = (minilm_folder / "tokenizer.json").read_bytes()[:3000] + b"}}"
    for cut in range(0, 3000, 97):
        (tmp_path / "tokenizer.json").write_bytes(whole[:cut])
        with pytest.raises(TokenizerError):
            tokenizer_from_folder(tmp_path)


def test_missing_and_oversized_files_are_refused(tmp_path, minilm_folder, monkeypatch):
    with pytest.raises(TokenizerError, match="found none"):
        tokenizer_from_folder(tmp_path)
    (tmp_path / "tokenizer.json").mkdir()
    with pytest.raises(TokenizerError, match="found none"):
        tokenizer_from_folder(tmp_path)
    with pytest.raises(TokenizerError, match="more than 1000 bytes"):
        files.read_text(minilm_folder / "tokenizer.json", limit=1000)


@pytest.mark.parametrize(
    "settings",
    [
        "[]",
        "{",
        '{"eos_token": 3}',
        '{"eos_token": {"no": "content"}}',
        '{"added_tokens_decoder": []}',
        '{"added_tokens_decoder": {"x": {"content": "a"}}}',
        '{"added_tokens_decoder": {"1": 5}}',
        '{"added_tokens_decoder": {"1": {}}}',
    ],
)
def test_wrong_settings_are_refused(tmp_path, minilm_folder, settings):
    shutil.copy(minilm_folder / "tokenizer.json", tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(settings)
    with pytest.raises(TokenizerError):
        tokenizer_from_folder(tmp_path)


def test_settings_may_add_special_tokens(tmp_path, minilm_folder):
    shutil.copy(minilm_folder / "tokenizer.json", tmp_path)
    added = {"30522": {"content": "<|end|>", "special": True}, "30523": {"content": "<think>", "special": False}}
    settings = {"eos_token": {"content": "<|end|>"}, "pad_token": None, "added_tokens_decoder": added}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    tokenizer = tokenizer_from_folder(tmp_path)
    assert (tokenizer.eos_id, tokenizer.stop_ids, tokenizer.pad_id) == (30522, {30522}, None)
    assert tokenizer.vocabulary_size == 30524
    assert 30522 in tokenizer.special_ids
    assert 30523 not in tokenizer.special_ids
    assert tokenizer.encode_trusted("<|end|>") == [30522]


def test_chat_templates_are_found_in_each_place(tmp_path):
    assert chat_template_from_folder(tmp_path) is None
    for template in ("T", [{"name": "tool_use", "template": "U"}, {"name": "default", "template": "T"}]):
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": template}))
        assert chat_template_from_folder(tmp_path) == "T"
    (tmp_path / "tokenizer_config.json").write_text('{"chat_template": 5}')
    with pytest.raises(TokenizerError, match="chat_template"):
        chat_template_from_folder(tmp_path)
    (tmp_path / "chat_template.jinja").write_text("J")
    assert chat_template_from_folder(tmp_path) == "J"


def test_a_panic_of_the_library_becomes_our_error():
    class PanicLikeError(BaseException):
        pass

    with pytest.raises(TokenizerError, match="out of bounds"), library_errors(messages.ENCODING_FAILED):
        raise PanicLikeError("index out of bounds")
    with pytest.raises(KeyboardInterrupt), library_errors(messages.ENCODING_FAILED):
        raise KeyboardInterrupt
