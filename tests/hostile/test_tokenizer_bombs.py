"""tokenizer.json made to hurt: refused by name when it is read, or harmless when it is used."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clearformer.errors import TokenizerError
from clearformer.messages import text as messages
from clearformer.text.load import tokenizer_from_folder
from hostile import seeds
from hostile.law import refused

BYTES, PIECES, WORDS, UNIGRAM = seeds.tokenizers_json()
TEXT = "the cat sat " * 40 + "x" * 40


def changed(tree: dict[str, Any], **parts: Any) -> bytes:
    return json.dumps(tree | parts).encode()


def model(tree: dict[str, Any], **parts: Any) -> bytes:
    return changed(tree, model=tree["model"] | parts)


def split(pattern: str, kind: str = "Regex") -> dict[str, Any]:
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": "Isolated", "invert": False}


def nested(levels: int) -> str:
    return '{"type":"Sequence","pretokenizers":[' * levels + '{"type":"Whitespace"}' + "]}" * levels


DOUBLE = {"type": "Replace", "pattern": {"String": "x"}, "content": "xx"}
ADDED = BYTES["added_tokens"][0]
BOMBS: dict[str, bytes] = {
    "empty": b"",
    "no object": b"[]",
    "not utf-8": b'{"version": "\xff"}',
    "nothing in it": b"{}",
    "another version": changed(BYTES, version="9.0"),
    "nested without end": b'{"a":' + b"[" * 1_000_000,
    "a number of 5,000 digits": b'{"version":1' + b"0" * 5000 + b"}",
    "no model": changed(BYTES, model=None),
    "a model of an unknown type": changed(BYTES, model={"type": "Pickle", "vocab": {}}),
    "a model that is a path": changed(BYTES, model="/etc/passwd"),
    "a vocabulary that is a path": model(BYTES, vocab="/etc/passwd"),
    "an id of 2^32-1": model(WORDS, vocab={"[UNK]": 0, "x": 2**32 - 1}),
    "an id of 2^24": model(WORDS, vocab={"[UNK]": 0, "x": 2**24}),
    "an id of 2^63": model(WORDS, vocab={"[UNK]": 0, "x": 2**63}),
    "an id below nothing": model(WORDS, vocab={"[UNK]": -1}),
    "an id that is no number": model(WORDS, vocab={"[UNK]": "0"}),
    "words that are numbers": model(WORDS, vocab=[1, 2, 3]),
    "merges of words that are not there": model(BYTES, merges=[["q", "no such word"]]),
    "merges of three": model(BYTES, merges=[["t", "h", "e"]]),
    "merges that are numbers": model(BYTES, merges=[1, 2]),
    "an added token without text": changed(BYTES, added_tokens=[{"id": 1}]),
    "added tokens that are a word": changed(BYTES, added_tokens="<s>"),
    "a score of no number": model(UNIGRAM, vocab=[["x", float("nan")]]),
    "an unknown word beyond the vocabulary": model(UNIGRAM, unk_id=10**9),
    "no words at all": model(UNIGRAM, vocab=[], unk_id=0),
    "a pattern that is none": changed(BYTES, pre_tokenizer=split("(((")),
    "a pattern with names without end": changed(BYTES, pre_tokenizer=split("(" * 5000 + "x" + ")" * 5000)),
    "steps nested without end": changed(BYTES, pre_tokenizer=None).replace(
        b'"pre_tokenizer": null', b'"pre_tokenizer":' + nested(5000).encode()
    ),
    "an unknown step": changed(BYTES, pre_tokenizer={"type": "Shell", "command": "id"}),
    "a map of characters that is damaged": changed(
        BYTES, normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"}
    ),
    "a decoder that is a number": changed(BYTES, decoder=7),
    "forty steps that double": changed(BYTES, normalizer={"type": "Sequence", "normalizers": [DOUBLE] * 40}),
    "forty steps that double, backwards": changed(BYTES, decoder={"type": "Sequence", "decoders": [DOUBLE] * 40}),
    "a megabyte for every letter": changed(BYTES, normalizer=DOUBLE | {"content": "x" * 1_000_000}),
    "a page between any two letters": changed(
        BYTES, normalizer=DOUBLE | {"pattern": {"Regex": ""}, "content": "x" * 2000}
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bomb_is_refused(name, tmp_path):
    (tmp_path / "tokenizer.json").write_bytes(BOMBS[name])
    refused(lambda: tokenizer_from_folder(tmp_path), tmp_path / "tokenizer.json", TokenizerError)


USED: dict[str, bytes] = {
    "an added token of id 2^32-1": changed(BYTES, added_tokens=[ADDED | {"id": 2**32 - 1}]),
    "a template of unknown words": changed(
        WORDS,
        post_processor=WORDS["post_processor"]
        | {"special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [0], "tokens": []}}},
    ),
    "a pattern that tries for ever": changed(BYTES, pre_tokenizer=split(r"(x+x+)+y")),
    "an empty pattern": changed(BYTES, pre_tokenizer=split("")),
    "a word as long as a book": model(WORDS, max_input_chars_per_word=10**12),
    "a unknown word that is not there": model(WORDS, unk_token="nowhere"),
    "no byte to fall back to": model(PIECES, vocab={"<unk>": 0, "▁": 1}, merges=[]),
}


@pytest.mark.parametrize("name", USED)
def test_bomb_is_harmless_in_use(name, tmp_path):
    """Read or refused; and if read, a text becomes ids or an error, soon."""
    (tmp_path / "tokenizer.json").write_bytes(USED[name])

    def use() -> None:
        tokenizer_from_folder(tmp_path).encode(TEXT)
        raise TokenizerError(messages.NOT_TEXT, found=name)  # it was, and cost nothing

    refused(use, tmp_path / "tokenizer.json", TokenizerError)
