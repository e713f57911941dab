"""Tokenizers run by the `tokenizers` library (Rust), behind the `Tokenizer` protocol.

The library's panics are BaseExceptions and its errors are bare `Exception`s; both become `TokenizerError` here.
"""

from __future__ import annotations

import json
import operator
import re
import secrets
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from clearformer.errors import ClearformerError, TokenizerError
from clearformer.messages import Failure
from clearformer.messages import text as messages
from clearformer.text.byte_alphabet import unspell
from clearformer.text.files import checked_text
from clearformer.text.growth import require_bounded
from clearformer.text.tokenizer import Spelling

if TYPE_CHECKING:
    import tokenizers

# The largest published vocabularies have some 260,000 words; one list is kept as long as the largest id.
LARGEST_VOCABULARY = 1 << 22
_BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


@contextmanager
def library_errors(failure: Failure, **values: object) -> Iterator[None]:
    """Turn whatever the Rust library raises, a panic included, into a `TokenizerError` with `detail`."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError, ClearformerError):
        raise
    except BaseException as error:
        raise TokenizerError(failure, detail=error, **values) from None


class FastTokenizer:
    """A `tokenizers.Tokenizer` as the model meets it: no padding, no truncation, special strings never read from text.

    `special_names` maps `bos_token`, `eos_token` … to strings; each is made special if the file did not say so.
    `stop` names further strings that end a generation. Raises `TokenizerError` if the parts do not fit together.
    """

    def __init__(
        self, backend: tokenizers.Tokenizer, special_names: Mapping[str, str], stop: Collection[str] = ()
    ) -> None:
        import tokenizers

        for part, steps in (("normalizer", backend.normalizer), ("decoder", backend.decoder)):
            require_bounded(part, json.loads(steps.__getstate__()) if steps else {})
        with library_errors(messages.ENCODING_FAILED):
            backend.no_padding()
            backend.no_truncation()
            flags = {"special": True, "normalized": False}
            known = {token.content for token in backend.get_added_tokens_decoder().values() if token.special}
            missing = [name for name in {**dict.fromkeys(special_names.values()), **dict.fromkeys(stop)}]
            backend.add_special_tokens([tokenizers.AddedToken(n, **flags) for n in missing if n not in known])
            backend.encode_special_tokens = True
            added = backend.get_added_tokens_decoder()
            vocabulary = backend.get_vocab(with_added_tokens=True)
        self._backend = backend
        self._lock = threading.Lock()
        largest = max(vocabulary, key=vocabulary.__getitem__, default="")
        if vocabulary.get(largest, 0) >= LARGEST_VOCABULARY:
            values = {"word": largest, "found": vocabulary[largest], "limit": LARGEST_VOCABULARY}
            raise TokenizerError(messages.ID_TOO_LARGE, **values)
        self._words: list[str | None] = [None] * (1 + vocabulary.get(largest, -1))
        for word, token_id in vocabulary.items():
            self._words[token_id] = word
        self.spelling: Spelling = _spelling(backend)
        self.special_names: Mapping[str, str] = dict(special_names)
        self.special_ids = frozenset(token_id for token_id, token in added.items() if token.special)
        self.added_tokens: Mapping[str, int] = {token.content: token_id for token_id, token in added.items()}
        self.stop_ids = frozenset(
            self.added_tokens[name] for name in {*stop, special_names.get("eos_token")} if name is not None
        )

    @property
    def vocabulary_size(self) -> int:
        return len(self._words)

    @property
    def vocabulary(self) -> Mapping[str, int]:
        """Every word as the model spells it, added tokens among them, with its id."""
        return {word: token_id for token_id, word in enumerate(self._words) if word is not None}

    @property
    def bos_id(self) -> int | None:
        return self._named("bos_token")

    @property
    def eos_id(self) -> int | None:
        return self._named("eos_token")

    @property
    def pad_id(self) -> int | None:
        return self._named("pad_token")

    @property
    def unk_id(self) -> int | None:
        return self._named("unk_token")

    def _named(self, name: str) -> int | None:
        return self.added_tokens[self.special_names[name]] if name in self.special_names else None

    def to_json(self) -> str:
        """The contents of a `tokenizer.json`."""
        contents: str = self._backend.to_str(pretty=True)
        return contents

    def encode(self, text: str, *, special: bool = True) -> list[int]:
        checked_text(text)
        with self._lock, library_errors(messages.ENCODING_FAILED):
            encoding = self._backend.encode(text, add_special_tokens=False)
            if not self.special_ids.isdisjoint(encoding.ids):
                # A model may hold `</s>` as an ordinary piece; then the text is encoded by one that does not.
                encoding = self._literal.encode(text, add_special_tokens=False)
            return (self._backend.post_process(encoding) if special else encoding).ids

    def encode_trusted(self, text: str) -> list[int]:
        checked_text(text)
        with self._lock, library_errors(messages.ENCODING_FAILED):
            self._backend.encode_special_tokens = False
            try:
                return self._backend.encode(text, add_special_tokens=False).ids
            finally:
                self._backend.encode_special_tokens = True

    def encode_literal(self, text: str) -> list[int]:
        checked_text(text)
        with self._lock, library_errors(messages.ENCODING_FAILED):
            return self._literal.encode(text, add_special_tokens=False).ids

    @cached_property
    def _literal(self) -> tokenizers.Tokenizer:
        """The same tokenizer with no string matched whole and with special words out of the text's reach."""
        import tokenizers

        contents = json.loads(self._backend.to_str())
        contents |= {"added_tokens": [], "post_processor": None}
        special = {self._words[token_id] for token_id in self.special_ids}
        _hide_words(contents["model"], {word: f"{secrets.token_hex(16)}:{word}" for word in special if word})
        return tokenizers.Tokenizer.from_str(json.dumps(contents))

    def decode(self, ids: Iterable[int], *, skip_special: bool = True) -> str:
        checked = [self._checked_id(token_id) for token_id in ids]
        with library_errors(messages.ENCODING_FAILED):
            return self._backend.decode(checked, skip_special_tokens=skip_special)

    def token(self, token_id: int) -> str:
        if self.spelling == "words":
            return self._words[self._checked_id(token_id)] or ""
        return self.token_bytes(token_id).decode("utf-8", "backslashreplace")

    def token_bytes(self, token_id: int) -> bytes:
        token_id = self._checked_id(token_id)
        word = self._words[token_id] or ""
        if token_id in self.special_ids or word in self.added_tokens:
            return word.encode("utf-8")
        if self.spelling == "bytes":
            return unspell(word)
        if self.spelling == "pieces":
            byte = _BYTE_PIECE.fullmatch(word)
            return bytes.fromhex(byte[1]) if byte else word.replace("▁", " ").encode("utf-8")
        return word.removeprefix("##").encode("utf-8")

    def is_byte(self, token_id: int) -> bool:
        word = self._words[self._checked_id(token_id)] or ""
        return self.spelling == "pieces" and _BYTE_PIECE.fullmatch(word) is not None

    def _checked_id(self, token_id: int) -> int:
        try:
            index = operator.index(token_id)
        except TypeError:
            index = -1
        if not 0 <= index < len(self._words) or self._words[index] is None:
            raise TokenizerError(messages.ID_OUT_OF_RANGE, last=len(self._words) - 1, found=token_id)
        return index


def _spelling(backend: tokenizers.Tokenizer) -> Spelling:
    """Told by the decoder, which is what turns words back into text."""
    decoder: dict[str, Any] = json.loads(backend.decoder.__getstate__()) if backend.decoder else {}
    steps = decoder.get("decoders", [decoder]) if decoder.get("type") == "Sequence" else [decoder]
    kinds = {step.get("type") for step in steps}
    if kinds == {"ByteLevel"}:
        return "bytes"
    writes_underline = any(step.get("pattern") == {"String": "▁"} for step in steps)
    return "pieces" if "Metaspace" in kinds or writes_underline else "words"


def _hide_words(model: dict[str, Any], hidden: Mapping[str, str]) -> None:
    """Rename words of a serialised model so that no text spells them; ids stay."""
    vocabulary = model["vocab"]
    if isinstance(vocabulary, dict):
        model["vocab"] = {hidden.get(word, word): token_id for word, token_id in vocabulary.items()}
    else:
        model["vocab"] = [[hidden.get(word, word), score] for word, score in vocabulary]
    if model.get("unk_token") in hidden:
        model["unk_token"] = hidden[model["unk_token"]]
    if "merges" in model:
        model["merges"] = [
            (left, right) for left, right in model["merges"] if not {left, right, left + right} & hidden.keys()
        ]
