"""Text from ids as they come, never half a character.

A token may hold part of a character, and a word's leading space may depend on what stands before it; so text is given
out once no later token can change it. The pieces, joined, are the text of all ids decoded at once.
"""

from __future__ import annotations

import codecs

from clearformer.text.tokenizer import Tokenizer


class StreamDecoder:
    """Decode one sequence id by id: `push` each id, `flush` at the end.

    Byte-level vocabularies give out every character as its last byte comes. SentencePiece's `<0xNN>` bytes wait for the
    next ordinary token, since one wrong byte among them spoils the whole run.
    """

    def __init__(self, tokenizer: Tokenizer, *, skip_special: bool = True) -> None:
        self._tokenizer = tokenizer
        self._skipped = tokenizer.special_ids if skip_special else frozenset[int]()
        self._bytes = codecs.getincrementaldecoder("utf-8")("replace")
        self._context: list[int] = []
        self._waiting: list[int] = []

    def push(self, token_id: int) -> str:
        """The text that this id completes, often empty. Raises `TokenizerError` on an id that the vocabulary lacks."""
        if token_id in self._skipped:
            return ""
        if self._tokenizer.spelling == "bytes":
            return self._bytes.decode(self._tokenizer.token_bytes(token_id))
        is_byte = self._tokenizer.is_byte(token_id)
        self._waiting.append(token_id)
        return "" if is_byte else self._release()

    def flush(self) -> str:
        """The text still waiting, an incomplete character as U+FFFD; the decoder is then as new."""
        text = self._bytes.decode(b"", final=True) + self._release()
        self._context.clear()
        self._bytes.reset()
        return text

    def _release(self) -> str:
        if not self._waiting:
            return ""
        # One token before is context enough: it tells whether the next one opens the text.
        before = self._tokenizer.decode(self._context, skip_special=False) if self._context else ""
        both = self._tokenizer.decode(self._context + self._waiting, skip_special=False)
        self._context, self._waiting = self._waiting[-1:], []
        return both[len(before) :]
