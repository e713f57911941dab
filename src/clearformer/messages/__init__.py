"""Every sentence a user meets, in English and Chinese, one file a room.

A sentence is a `Message`; an error is a `Failure`, one line of cause and one of remedy. Both languages stand side by
side in one constructor, so a missing translation is a type error and not a surprise at run time.
"""

from __future__ import annotations

import difflib
import locale
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "zh"]

_LONGEST_VALUE = 300


@dataclass(frozen=True)
class Message:
    """One sentence in both languages; `{name}` fields are filled by `text`.

    A value may be a message itself: it is put into the same language, its own fields filled from the other values.
    """

    en: str
    zh: str

    def text(self, language: Language = "en", **values: object) -> str:
        template = self.zh if language == "zh" else self.en
        words = {name: plain(value) for name, value in values.items() if not isinstance(value, Message)}
        inner = {name: value.text(language, **words) for name, value in values.items() if isinstance(value, Message)}
        return template.format_map(words | inner)


@dataclass(frozen=True)
class Failure:
    """What went wrong and what to do about it; each one line."""

    cause: Message
    remedy: Message


def failure(*, en: tuple[str, str], zh: tuple[str, str]) -> Failure:
    """Build a failure from (cause, remedy) in each language."""
    return Failure(cause=Message(en[0], zh[0]), remedy=Message(en[1], zh[1]))


def did_you_mean(found: object, known: Iterable[str]) -> Message:
    """The known name nearest to one that was not found, as a sentence to put behind another; empty if none is near."""
    near = difflib.get_close_matches(str(found)[:80], known, 1)
    return verbatim(f" Did you mean {near[0]}?", f"您是否想用 {near[0]}？") if near else Message("", "")


def verbatim(en: str, zh: str) -> Message:
    """A message that holds words from outside: braces in them are braces and no fields."""
    return Message(*(text.replace("{", "{{").replace("}", "}}") for text in (en, zh)))


def counted(count: int, one: str, many: str, zh: str) -> Message:
    """A number with what it counts: 1 step, 1,200 steps."""
    return Message(f"{count:,} {one if count == 1 else many}", f"{count:,} {zh}")


def plain(value: object) -> object:
    """Values come from files and users: control characters are shown, never sent to the terminal, and length is bounded."""
    if isinstance(value, int | float):
        return value
    text = str(value)[: _LONGEST_VALUE + 1]  # a file's word may have megabytes
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "…"


def language_of(environment: Mapping[str, str] | None = None) -> Language:
    """The language of the user's locale: Chinese where it says so, else English."""
    environment = os.environ if environment is None else environment
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environment.get(name):
            return "zh" if environment[name].lower().startswith("zh") else "en"
    return "zh" if (locale.getlocale()[0] or "").lower().startswith(("zh", "chinese")) else "en"
