"""A symptom: what a person sees, what is true about it, and the checks that can explain it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from clearformer.messages import Message

Words = tuple[str, ...]
"""Ways to say one thing, in either language, as expressions of `re`; a text says it if one of them is found."""


@dataclass(frozen=True)
class Symptom:
    """`number` is 1 to 9, or m1 to m12 for a misconception: no fault in itself, and refuted by checks or commands."""

    number: str
    name: Message
    truth: Message
    checks: tuple[str, ...]
    """In the order in which they are made."""
    telling: tuple[Words, ...]
    """What sets it apart: each counts two."""
    beside: tuple[Words, ...] = ()
    """What also belongs to it: each counts one."""
    commands: tuple[str, ...] = ()
    """What shows it without the user's model."""

    def score(self, text: str) -> int:
        return 2 * sum(map(lambda words: _says(text, words), self.telling)) + sum(
            _says(text, words) for words in self.beside
        )


def _says(text: str, words: Words) -> bool:
    # A Chinese character beside a Latin word ends that word.
    return any(re.search(word, text, re.ASCII) for word in words)
