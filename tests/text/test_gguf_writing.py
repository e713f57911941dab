"""Tokenizers written as GGUF metadata: the same ids when they are read again, and in llama.cpp."""

from __future__ import annotations

import json

import pytest
import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors

from clearformer.checkpoint.gguf_file import open_gguf
from clearformer.errors import TokenizerError
from clearformer.load import load
from clearformer.text.fast import FastTokenizer
from clearformer.text.gguf import tokenizer_from_gguf
from clearformer.text.gguf_metadata import HUGGING_FACE
from clearformer.text.gguf_words import GPT4O, LLAMA3, QWEN2, TEKKEN
from clearformer.text.gguf_writing import tokenizer_to_gguf
from clearformer.text.training import train_bpe, train_characters
from drawing.gguf_files import asked_of_llama_cpp, gguf_of
from text.conftest import TEXTS

CORPUS = ["the cat sat on the mat — 猫は 12345 😀, don't!"] * 3
SPECIALS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}


def byte_level(*patterns: str, ignore_merges: bool = False, form: str = "", marks: bool = False) -> FastTokenizer:
    """A small byte-level BPE that cuts by these patterns, as published files write them."""
    parts = json.loads(train_bpe(CORPUS, 290, SPECIALS).to_json())
    parts["model"]["ignore_merges"] = ignore_merges
    backend = tokenizers.Tokenizer.from_str(json.dumps(parts))
    cuts = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns]
    if patterns:
        last = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        backend.pre_tokenizer = pre_tokenizers.Sequence([*cuts, last])
    if form:
        backend.normalizer = getattr(normalizers, form)()
    if marks:
        backend.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", pair="<s> $A </s> $B:1", special_tokens=[("<s>", 0), ("</s>", 1)]
        )
    backend.add_tokens([AddedToken("<tool>", normalized=False)])
    return FastTokenizer(backend, SPECIALS)


def sentencepiece_of(metadata: dict[str, object], *, metaspace: bool) -> FastTokenizer:
    """The vocabulary as older files have it (a space before every text) and as transformers 5 writes it."""
    parts = json.loads(tokenizer_from_gguf(metadata).to_json())
    if metaspace:
        parts["normalizer"] = None
        parts["pre_tokenizer"] = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False}
    names = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    return FastTokenizer(tokenizers.Tokenizer.from_str(json.dumps(parts)), names)


BYTE_LEVEL = {
    "gpt-2": byte_level(),
    "smollm": byte_level(r"\p{N}", r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"),
    "llama-bpe": byte_level(LLAMA3, ignore_merges=True, marks=True),
    "dbrx": byte_level(LLAMA3),
    "qwen2": byte_level(QWEN2, form="NFC"),
    "tekken": byte_level(TEKKEN, ignore_merges=True),
    "gpt-4o": byte_level(GPT4O),
}


def again(tokenizer: FastTokenizer, architecture: str = "llama") -> tuple[FastTokenizer, dict[str, object]]:
    written = tokenizer_to_gguf(tokenizer, tokenizer.vocabulary_size + 2, architecture)
    return tokenizer_from_gguf({"general.architecture": architecture, **written}), written


def require_alike(first: FastTokenizer, second: FastTokenizer) -> None:
    for text in [*TEXTS, "the cat sat", "  the  rat", " the", "cafe\u0301 <tool> x"]:
        ids = first.encode(text)
        assert second.encode(text) == ids
        assert second.encode_trusted(text) == first.encode_trusted(text)
        assert second.decode(ids) == first.decode(ids)
    assert {name: second.special_names[name] for name in first.special_names} == dict(first.special_names)
    assert first.stop_ids == second.stop_ids
    assert first.special_ids <= second.special_ids


@pytest.mark.parametrize("pre", BYTE_LEVEL)
def test_byte_level(pre):
    ours, written = again(BYTE_LEVEL[pre])
    assert written["tokenizer.ggml.pre"] == pre
    assert HUGGING_FACE not in written
    require_alike(BYTE_LEVEL[pre], ours)


def test_smollm2(smollm2, smollm2_metadata):
    ours, written = again(smollm2)
    require_alike(smollm2, ours)
    assert HUGGING_FACE not in written
    said = ("model", "pre", "token_type", "merges", "bos_token_id", "eos_token_id", "unknown_token_id")
    rows = smollm2.vocabulary_size
    for key in (f"tokenizer.ggml.{name}" for name in said):
        found = written[key]
        assert (found[:rows] if key.endswith("type") else found) == smollm2_metadata[key]


@pytest.mark.parametrize("metaspace", [True, False])
def test_sentencepiece(sentencepiece_metadata, metaspace):
    """What llama.cpp has no key for, a space that only the first word gets, is kept in the tokenizer.json beside."""
    first = sentencepiece_of(sentencepiece_metadata, metaspace=metaspace)
    ours, written = again(first)
    assert (HUGGING_FACE in written) == metaspace
    assert written["tokenizer.ggml.model"] == "llama"
    require_alike(first, ours)


def test_wordpiece(minilm):
    ours, written = again(minilm, "bert")
    assert HUGGING_FACE not in written
    assert written["tokenizer.ggml.normalizer.lowercase"] is True
    for text in TEXTS:
        assert ours.encode(text) == minilm.encode(text)
    assert ours.vocabulary.items() >= minilm.vocabulary.items()


def test_cased_wordpiece_stays_cased(minilm):
    parts = json.loads(minilm.to_json())
    parts["normalizer"]["lowercase"] = False
    cased = FastTokenizer(tokenizers.Tokenizer.from_str(json.dumps(parts)), minilm.special_names)
    ours, written = again(cased, "bert")
    assert written["tokenizer.ggml.normalizer.lowercase"] is False
    assert ours.encode("École Größe") == cased.encode("École Größe") != minilm.encode("École Größe")


def words_only(prefix: str = "") -> FastTokenizer:
    backend = tokenizers.Tokenizer(models.BPE({"a": 0, "b": 1}, [], continuing_subword_prefix=prefix))
    backend.decoder = decoders.ByteLevel()
    return FastTokenizer(backend, {})


@pytest.mark.parametrize(
    ("tokenizer", "named"),
    [
        (lambda: train_characters(["abc"], {"unk_token": "<unk>"}), "its model is WordLevel"),
        (lambda: byte_level(r"\w+|\W+"), "pre_tokenizer"),
        (lambda: byte_level(form="Lowercase"), "normalizer is Lowercase"),
        (lambda: byte_level(QWEN2, ignore_merges=True), "pre_tokenizer"),
        (lambda: words_only("##"), "continuing_subword_prefix"),
    ],
)
def test_what_llama_cpp_cannot_say_is_refused_by_name(tokenizer, named):
    with pytest.raises(TokenizerError, match=named):
        tokenizer_to_gguf(tokenizer(), 400, "llama")


def test_further_ends_are_written_and_at_most_three():
    small = BYTE_LEVEL["gpt-2"]
    written = tokenizer_to_gguf(small, 300, "llama", [1, 5, 6])
    found = [written[f"tokenizer.ggml.{name}_token_id"] for name in ("eos", "eot", "eom")]
    assert found == [1, 5, 6]
    with pytest.raises(TokenizerError, match="at most 3"):
        tokenizer_to_gguf(small, 300, "llama", [1, 5, 6, 7])


@pytest.mark.parametrize(
    ("contents", "named"),
    [
        ("{", "does not describe a tokenizer"),
        ('{"version":"1.0","model":{"type":"WordLevel","vocab":{"a":1000000},"unk_token":"a"}}', "words"),
        ('{"version":"1.0","model":{"type":"WordLevel","vocab":{"a":0},"unk_token":"a"}}', "to hold"),
        (7, "of type str"),
    ],
)
def test_a_tokenizer_json_that_does_not_fit_is_refused(smollm2_metadata, contents, named):
    with pytest.raises(TokenizerError, match=named):
        tokenizer_from_gguf(smollm2_metadata | {HUGGING_FACE: contents})


@pytest.mark.parametrize("pre", BYTE_LEVEL)
def test_llama_cpp_cuts_alike(tmp_path, pre):
    path = gguf_of(tmp_path / "m.gguf", BYTE_LEVEL[pre])
    # It composes no accents and ends a text at its first zero; nothing else may differ.
    texts = [text for text in TEXTS if "\0" not in text] + ["the cat", "  the"]
    answer = asked_of_llama_cpp(path, texts=texts)
    assert answer["texts"] == [load(path).tokenizer.encode(text) for text in texts]


def test_llama_cpp_cuts_pieces_alike(sentencepiece_metadata, tmp_path):
    path = gguf_of(tmp_path / "m.gguf", sentencepiece_of(sentencepiece_metadata, metaspace=False))
    assert HUGGING_FACE not in open_gguf(path).metadata
    # It takes a word of the vocabulary that spells a mark for the mark, which no text of a user's should become.
    texts = [text for text in TEXTS if "</s>" not in text and "\0" not in text] + ["the cat sat", "  the  rat", " the"]
    answer = asked_of_llama_cpp(path, texts=texts)
    assert answer["texts"] == [load(path).tokenizer.encode(text) for text in texts]
