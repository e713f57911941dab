"""Byte-level byte-pair encoding, written to be read.

Text is cut into words by a pattern, a word into bytes, and the bytes are joined again, pair by pair, in the order in
which training found the pairs (Sennrich et al. 2016, arXiv 1508.07909, section 3.2; bytes: GPT-2, 2019, section 2.2).
Training is in `bpe_train`. Ids, merges and the file are those of the `tokenizers` library, which does the same faster.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from clearformer.errors import TokenizerError
from clearformer.messages import text as messages
from clearformer.text.byte_alphabet import character_of_byte, spell, unspell
from clearformer.text.files import checked_text, read_json, write_json

# Contractions, letters, digits, other marks, each with the space before it; then spaces, leaving one to the next word.
GPT2_WORD = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

Pair = tuple[int, int]

_PRE_TOKENIZER = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
_MODEL_OPTIONS = {
    "dropout": None,
    "unk_token": None,
    "continuing_subword_prefix": None,
    "end_of_word_suffix": None,
    "fuse_unk": False,
    "byte_fallback": False,
    "ignore_merges": False,
}


@cache
def _word_pattern() -> Any:
    import regex

    # VERSION0 with \s as Unicode White_Space, which is what the library's pattern engine takes.
    return regex.compile(GPT2_WORD.replace(r"\s", r"\p{White_Space}").replace(r"\S", r"\P{White_Space}"))


def split_words(text: str) -> list[str]:
    """Cut text where GPT-2 cuts it: `"it's 10 o'clock"` → `it` `'s` ` 10` ` o` `'` `clock`. Nothing is lost."""
    words: list[str] = _word_pattern().findall(checked_text(text))
    return words


def join_pair(word: Sequence[int], pair: Pair, joined: int) -> list[int]:
    """Replace each occurrence of `pair`, from the left: in `a a a` the pair `a a` is found once."""
    result: list[int] = []
    position = 0
    while position < len(word):
        if tuple(word[position : position + 2]) == pair:
            result.append(joined)
            position += 2
        else:
            result.append(word[position])
            position += 1
    return result


@dataclass(frozen=True)
class BytePairEncoding:
    """A vocabulary (id → word in the byte alphabet) and its merges, first learnt first.

    `special_tokens` have the first ids and are written as themselves; text never produces them.
    Raises `TokenizerError` if a merge uses a token that no earlier merge made.
    """

    vocabulary: tuple[str, ...]
    merges: tuple[Pair, ...]
    special_tokens: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        made = {self.ids[character] for character in character_of_byte() if character in self.ids}
        if len(made) < 256:
            raise TokenizerError(messages.VOCABULARY_TOO_SMALL, least=256, found=len(made))
        for index, (left, right) in enumerate(self.merges):
            if left not in made or right not in made:
                names = {"left": self.vocabulary[left], "right": self.vocabulary[right]}
                raise TokenizerError(messages.MERGE_OUT_OF_ORDER, index=index, **names)
            made.add(self.ids[self.vocabulary[left] + self.vocabulary[right]])

    @cached_property
    def ids(self) -> dict[str, int]:
        return {word: index for index, word in enumerate(self.vocabulary)}

    @cached_property
    def rank_of_pair(self) -> dict[Pair, int]:
        return {pair: rank for rank, pair in enumerate(self.merges)}

    @cached_property
    def _encode_word_cached(self) -> Any:
        return lru_cache(maxsize=65_536)(lambda word: tuple(list(self.word_steps(word))[-1]))

    def word_steps(self, word: str) -> Iterator[list[int]]:
        """The ids of one word after each merge, from its single bytes to its tokens."""
        ids = [self.ids[character] for character in spell(word.encode("utf-8"))]
        yield ids
        while known := [pair for pair in pairwise(ids) if pair in self.rank_of_pair]:
            left, right = min(known, key=self.rank_of_pair.__getitem__)
            ids = join_pair(ids, (left, right), self.ids[self.vocabulary[left] + self.vocabulary[right]])
            yield ids

    def encode(self, text: str) -> list[int]:
        """Ids of a text; special strings in it are ordinary text. Raises `TokenizerError` on a lone surrogate."""
        return [token_id for word in split_words(text) for token_id in self._encode_word_cached(word)]

    def token_bytes(self, token_id: int) -> bytes:
        if not 0 <= token_id < len(self.vocabulary):
            raise TokenizerError(messages.ID_OUT_OF_RANGE, last=len(self.vocabulary) - 1, found=token_id)
        word = self.vocabulary[token_id]
        return word.encode("utf-8") if token_id < len(self.special_tokens) else unspell(word)

    def decode(self, ids: Iterable[int], *, skip_special: bool = True) -> str:
        """Text of ids; bytes that are no UTF-8 become U+FFFD, as a token may hold half a character."""
        first_plain = len(self.special_tokens) if skip_special else 0
        pieces = [self.token_bytes(i) for i in ids if not 0 <= i < first_plain]
        return b"".join(pieces).decode("utf-8", "replace")

    def save(self, path: Path) -> None:
        """Write a `tokenizer.json` that the `tokenizers` library reads."""
        flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        words = self.vocabulary
        contents = {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [{"id": i, "content": token, **flags} for i, token in enumerate(self.special_tokens)],
            "normalizer": None,
            "pre_tokenizer": _PRE_TOKENIZER,
            "post_processor": None,
            "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
            "model": {
                "type": "BPE",
                **_MODEL_OPTIONS,
                "vocab": self.ids,
                "merges": [[words[left], words[right]] for left, right in self.merges],
            },
        }
        write_json(path, contents)

    @classmethod
    def load(cls, path: Path) -> BytePairEncoding:
        """Read a `tokenizer.json` of this kind; any other is refused with `TokenizerError`."""
        contents = read_json(path)
        try:
            return cls._from_contents(contents)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise TokenizerError(messages.NOT_PLAIN_BPE, path=path, detail=_reason(error)) from None

    @classmethod
    def _from_contents(cls, contents: dict[str, Any]) -> BytePairEncoding:
        model, cutter = contents["model"], contents["pre_tokenizer"]
        if contents.get("normalizer") is not None or contents.get("post_processor") is not None:
            raise ValueError("a normalizer or post-processor is set")
        for field in ("type", "add_prefix_space", "use_regex"):
            if cutter.get(field, True) != _PRE_TOKENIZER[field]:
                raise ValueError(f"pre_tokenizer.{field} = {json.dumps(cutter.get(field))}")
        for field, expected in {"type": "BPE", **_MODEL_OPTIONS}.items():
            # The library writes an absent prefix as null or as an empty string.
            if (model.get(field) or None) != (expected or None):
                raise ValueError(f"model.{field} = {json.dumps(model[field])}")
        ids: dict[str, int] = model["vocab"]
        if sorted(ids.values()) != list(range(len(ids))):
            raise ValueError("ids are not 0, 1, 2 …")
        special = sorted((token["id"], token["content"]) for token in contents.get("added_tokens", []))
        if [token_id for token_id, _ in special] != list(range(len(special))):
            raise ValueError("special tokens do not have the first ids")
        pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
        return cls(
            vocabulary=tuple(sorted(ids, key=ids.__getitem__)),
            merges=tuple((ids[left], ids[right]) for left, right in pairs),
            special_tokens=tuple(content for _, content in special),
        )


def _reason(error: Exception) -> str:
    return f"the field {error} is absent" if isinstance(error, KeyError) else str(error)
