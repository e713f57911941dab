"""Tokens as a table shows them: whole characters, so that Chinese in a byte-level vocabulary can be read."""

from __future__ import annotations

from collections.abc import Sequence

from clearformer.text.tokenizer import Tokenizer

CONTINUED = "…"


def display_tokens(tokenizer: Tokenizer, ids: Sequence[int]) -> list[str]:
    """One string per id: the characters whose first byte lies in that token.

    A character cut over several tokens is shown whole at the first of them; a token that begins no character shows
    `CONTINUED`. Bytes that are no UTF-8 are written `\\xNN` where they lie. WordPiece tokens keep their `##`.
    """
    if tokenizer.spelling == "words":
        return [tokenizer.token(token_id) for token_id in ids]
    pieces = [tokenizer.token_bytes(token_id) for token_id in ids]
    data = b"".join(pieces)
    owner = [index for index, piece in enumerate(pieces) for _ in piece]
    shown = ["" for _ in pieces]
    position = 0
    while position < len(data):
        character, width = _first_character(data[position : position + 4])
        shown[owner[position]] += character
        position += width
    return [text or CONTINUED if piece else "" for text, piece in zip(shown, pieces, strict=True)]


def _first_character(data: bytes) -> tuple[str, int]:
    """The character at the start of 1–4 bytes and its width; a byte that starts none is shown by itself."""
    for width in range(1, len(data) + 1):
        try:
            return data[:width].decode("utf-8"), width
        except UnicodeDecodeError:
            continue
    return f"\\x{data[0]:02x}", 1
