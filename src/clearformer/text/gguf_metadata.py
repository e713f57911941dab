"""The tokenizer's part of a GGUF file's metadata, checked. Keys are llama.cpp's (`tokenizer.ggml.*`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clearformer.errors import TokenizerError
from clearformer.messages import text as messages
from clearformer.text.gguf_words import follows_llama3

PREFIX, HUGGING_FACE = "tokenizer.ggml.", "tokenizer.huggingface.json"
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
# Merges are found by cutting a word everywhere, which costs the square of its length; published words stay below 300.
LONGEST_WORD = 1000
# llama.cpp spells "seperator".
NAMED = {
    "bos_token": "bos_token_id",
    "eos_token": "eos_token_id",
    "unk_token": "unknown_token_id",
    "pad_token": "padding_token_id",
    "sep_token": "seperator_token_id",
    "cls_token": "cls_token_id",
    "mask_token": "mask_token_id",
}
_ALSO_STOP = ("eot_token_id", "eom_token_id")


@dataclass(frozen=True)
class GgufVocabulary:
    """The tokenizer part of the metadata, checked: equal lengths, ids in range."""

    kind: str
    architecture: str
    words: tuple[str, ...]
    types: tuple[int, ...]
    scores: tuple[float, ...]
    merges: tuple[tuple[str, str], ...] | None
    named: Mapping[str, str]
    stop: tuple[str, ...]
    pre: str
    add_bos: bool
    add_eos: bool
    add_space_prefix: bool
    lowercase: bool | None
    strip_accents: bool | None

    def words_of(self, *types: int) -> list[str]:
        return [word for word, kind in zip(self.words, self.types, strict=True) if kind in types]


def read_vocabulary(metadata: Mapping[str, object]) -> GgufVocabulary:
    """Raises `TokenizerError` naming the key that is absent, of a wrong type or length, or out of range."""
    prefix = PREFIX
    kind = typed_value(metadata, prefix + "model", str)
    words = _list(metadata, prefix + "tokens", str, None)
    if not words:
        raise TokenizerError(messages.GGUF_FIELD, key=prefix + "tokens", expected="a list of words", found="nothing")
    longest = max(map(len, words))
    if longest > LONGEST_WORD:
        expected = f"words of at most {LONGEST_WORD} characters"
        raise TokenizerError(messages.GGUF_FIELD, key=prefix + "tokens", expected=expected, found=longest)
    types = _list(metadata, prefix + "token_type", int, len(words)) or (1,) * len(words)
    scores = _list(metadata, prefix + "scores", float, len(words)) or (0.0,) * len(words)

    def word_at(key: str) -> str | None:
        if metadata.get(prefix + key) is None:
            return None
        index = typed_value(metadata, prefix + key, int)
        if not 0 <= index < len(words):
            raise TokenizerError(
                messages.GGUF_FIELD, key=prefix + key, expected=f"an id below {len(words)}", found=index
            )
        return str(words[index])

    merges = None
    if prefix + "merges" in metadata:
        cut = [tuple(merge.split(" ")) for merge in _list(metadata, prefix + "merges", str, None)]
        wrong = next((" ".join(parts) for parts in cut if len(parts) != 2), None)
        if wrong is not None:
            raise TokenizerError(messages.GGUF_FIELD, key=prefix + "merges", expected="pairs of words", found=wrong)
        merges = tuple((parts[0], parts[1]) for parts in cut)
    named = {name: word for name, key in NAMED.items() if (word := word_at(key)) is not None}
    pre = typed_value(metadata, prefix + "pre", str, "default")
    lowercase, strip_accents = (
        typed_value(metadata, key, bool) if (key := f"{prefix}normalizer.{name}") in metadata else None
        for name in ("lowercase", "strip_accents")
    )
    # llama.cpp's default where the file is silent.
    add_bos = kind == "llama" or (kind == "gpt2" and follows_llama3(pre))
    return GgufVocabulary(
        kind=kind,
        architecture=str(metadata.get("general.architecture", "")),
        words=words,
        types=types,
        scores=scores,
        merges=merges,
        named=named,
        stop=tuple(word for key in _ALSO_STOP if (word := word_at(key)) is not None),
        pre=pre,
        add_bos=typed_value(metadata, prefix + "add_bos_token", bool, add_bos),
        add_eos=typed_value(metadata, prefix + "add_eos_token", bool, False),
        add_space_prefix=typed_value(metadata, prefix + "add_space_prefix", bool, True),
        lowercase=lowercase,
        strip_accents=strip_accents,
    )


def typed_value(metadata: Mapping[str, object], key: str, kind: type, default: object = None) -> Any:
    """The value of a key, else the default. Raises `TokenizerError` where that is of another type."""
    value = metadata.get(key, default)
    if hasattr(value, "item"):
        value = value.item()
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        found = "nothing" if value is None else type(value).__name__
        raise TokenizerError(messages.GGUF_FIELD, key=key, expected=f"of type {kind.__name__}", found=found)
    return value


def _list(metadata: Mapping[str, object], key: str, kind: type, length: int | None) -> tuple[Any, ...]:
    """A list of one type, of the given length; empty if the key is absent. NumPy arrays are lists here."""
    values = metadata.get(key, [])
    values = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(values, list | tuple) or not all(isinstance(value, kind) for value in values):
        found = type(values).__name__
        raise TokenizerError(messages.GGUF_FIELD, key=key, expected=f"a list of {kind.__name__}", found=found)
    if length is not None and key in metadata and len(values) != length:
        raise TokenizerError(messages.GGUF_FIELD, key=key, expected=f"{length} long", found=len(values))
    return tuple(values)
