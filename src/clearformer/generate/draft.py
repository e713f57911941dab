"""One text being written: its tokens, why it ended, and its words, given out piece by piece."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from clearformer.text.stream import StreamDecoder
from clearformer.text.tokenizer import Tokenizer

StopReason = Literal["stop", "length", "context", "stop_string"]


class Writer:
    """Text from ids as they come, up to a stop string; what may yet become one is held back."""

    def __init__(self, tokenizer: Tokenizer, stop_strings: Sequence[str] = ()) -> None:
        self._decoder = StreamDecoder(tokenizer)
        self._stop_strings = tuple(stop_strings)
        self._held = ""
        self.stopped = False

    def push(self, token_id: int) -> str:
        """The text that this id settles, often empty."""
        return self._settle(self._decoder.push(token_id))

    def finish(self) -> str:
        """What is still held back, when no more ids come."""
        settled = self._settle(self._decoder.flush())
        rest, self._held = self._held, ""
        return settled + rest

    def _settle(self, fresh: str) -> str:
        if self.stopped:
            return ""
        text = self._held + fresh
        found = [at for stop in self._stop_strings if (at := text.find(stop)) >= 0]
        if found:
            self.stopped, self._held = True, ""
            return text[: min(found)]
        settled = len(text) - max((_overlap(text, stop) for stop in self._stop_strings), default=0)
        self._held = text[settled:]
        return text[:settled]


def _overlap(text: str, stop: str) -> int:
    """Length of the longest end of `text` that begins `stop`."""
    return next((n for n in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:n])), 0)


class Draft:
    """A prompt and what follows it: at most `limit` new tokens, at most `context` tokens in all.

    `stop_reason` tells why it ended: "stop" at an id of `stop_ids`, "stop_string", "length" at the limit, "context" at
    the model's; None while it goes on. Without a `writer` (no tokenizer) it has ids and no text.
    """

    def __init__(
        self,
        prompt: Sequence[int],
        *,
        limit: int,
        context: int,
        stop_ids: Collection[int] = (),
        writer: Writer | None = None,
    ) -> None:
        self.prompt = list(prompt)
        self.new: list[int] = []
        self.text = ""
        self.stop_reason: StopReason | None = None
        self.room = min(limit, context - len(self.prompt))
        self._last: StopReason = "length" if limit <= self.room else "context"
        self._stop_ids = frozenset(stop_ids)
        self._writer = writer

    def accept(self, token_id: int) -> str:
        """Take the next id, the ending one included, and give the text that it settles."""
        self.new.append(token_id)
        piece = ""
        if token_id in self._stop_ids:
            self.stop_reason = "stop"
        else:
            piece = self._writer.push(token_id) if self._writer else ""
            if self._writer and self._writer.stopped:
                self.stop_reason = "stop_string"
            elif len(self.new) >= self.room:
                self.stop_reason = self._last
        self.text += piece
        return piece + self.close() if self.stop_reason else piece

    def close(self) -> str:
        """Give out the text still held back: no more ids come."""
        rest = self._writer.finish() if self._writer else ""
        self.text += rest
        return rest
