"""What a model needs of a tokenizer, whoever made it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, Protocol

Spelling = Literal["bytes", "pieces", "words"]
"""How a vocabulary writes text: GPT-2's byte alphabet; SentencePiece's ▁ and <0xNN>; WordPiece's ## or another way."""


class Tokenizer(Protocol):
    """Text to token ids and back.

    A special token (a begin mark, an end of turn) never comes from `encode`'s text: `<|im_end|>` typed by a user is
    cut into ordinary tokens. Only `encode_trusted` reads special strings, for text that a chat template wrote.
    """

    @property
    def vocabulary_size(self) -> int:
        """One more than the largest id."""

    @property
    def spelling(self) -> Spelling: ...

    @property
    def special_ids(self) -> frozenset[int]: ...

    @property
    def added_tokens(self) -> Mapping[str, int]:
        """Strings matched whole before the text is cut, special ones and others such as `<think>`."""

    @property
    def special_names(self) -> Mapping[str, str]:
        """`bos_token`, `eos_token` … → string, as chat templates read them."""

    @property
    def bos_id(self) -> int | None: ...

    @property
    def eos_id(self) -> int | None: ...

    @property
    def pad_id(self) -> int | None: ...

    @property
    def unk_id(self) -> int | None: ...

    @property
    def stop_ids(self) -> frozenset[int]:
        """Ids after which generation ends, as far as the tokenizer knows."""

    def encode(self, text: str, *, special: bool = True) -> list[int]:
        """Ids of a user's text; `special` adds what the model expects around it ([CLS], a begin mark)."""

    def encode_trusted(self, text: str) -> list[int]:
        """Ids of text whose special strings are meant; nothing is added around it."""

    def encode_literal(self, text: str) -> list[int]:
        """Ids of text in which no string is matched whole, `<think>` included; nothing is added around it."""

    def decode(self, ids: Iterable[int], *, skip_special: bool = True) -> str:
        """Text of ids; bytes that are no UTF-8 become U+FFFD."""

    def token(self, token_id: int) -> str:
        """One token as a person reads it; bytes that are no whole character are written `\\xNN`."""

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes that a token stands for (WordPiece: without its `##`)."""

    def is_byte(self, token_id: int) -> bool:
        """Whether the token is SentencePiece's `<0xNN>`, one byte of a character that the vocabulary lacks."""
