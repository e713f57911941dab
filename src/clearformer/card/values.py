"""A config's values as a card shows them: as they are while they are short, in words where they are long."""

from __future__ import annotations

import math
from collections import Counter

from clearformer.messages import plain

_LONGEST_LIST = 8
_LONGEST_NUMBER = 256
_LONGEST_TEXT = 100


def brief(value: object) -> object:
    """A value that JSON can hold: long lists and objects, and numbers that are none, as text."""
    match value:
        case None | bool():
            return value
        case int():
            return value if value.bit_length() <= _LONGEST_NUMBER else f"{value.bit_length()} bits"
        case float():
            return value if math.isfinite(value) else str(value)
        case list():
            members = [brief(each) for each in value[: _LONGEST_LIST + 1]]
            short = len(value) <= _LONGEST_LIST and not any(isinstance(each, list | dict) for each in value)
            return members if short else _counted(value)
        case dict():
            return {} if not value else f"{{{len(value)}}}"
        case _:
            return str(plain(value))


def shown(value: object) -> str:
    """The same as one reads it."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case list():
            return f"[{', '.join(map(shown, value))}]"
        case _:
            text = str(plain(value))
            return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"


def _counted(value: list[object]) -> str:
    """A long list by what occurs in it, or by its first members."""
    if all(isinstance(each, str | int | None) for each in value) and len(found := Counter(value)) <= 4:
        return ", ".join(f"{shown(brief(each))} ×{count}" for each, count in found.most_common())
    first = ", ".join(shown(brief(each)) for each in value[:3])
    return f"[{first}, …] ({len(value)})"
