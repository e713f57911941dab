"""Reading a foreign config strictly: a key is read, known to change nothing, or an error that names it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NoReturn, TypeVar

from clearformer.errors import CheckpointError
from clearformer.messages import Message, did_you_mean
from clearformer.messages import families as say
from clearformer.spec.model import DEEPEST

T = TypeVar("T")

# Far above any model, and small enough that a hostile config builds nothing large.
MAX_WHOLE = 1 << 31
MAX_LAYERS = DEEPEST


class ConfigReader:
    """A config's keys, read one by one; `finish` refuses those that nobody read. A null counts as absent.

    `path` is the file for messages, `prefix` what stands before a key there. Every method raises CheckpointError.
    """

    def __init__(self, values: Mapping[str, object], path: object = "config.json", prefix: str = "") -> None:
        self.path = path
        self._values = values
        self._prefix = prefix
        self._read: set[str] = set()
        self._harmless: set[str] = set()
        self._sections: list[ConfigReader] = []

    def has(self, key: str) -> bool:
        """Whether the key is present and not null."""
        return self._get(key) is not None

    def mentions(self, key: str) -> bool:
        """Whether the key is present, if only as null: of some keys transformers takes null and absence differently."""
        self._read.add(key)
        return key in self._values

    def whole(self, key: str, default: int | None = None, *, at_least: int = 1, limit: int = MAX_WHOLE) -> int:
        """A whole number; without a default the key is required."""
        value = self._require(key, default)
        if type(value) is not int or not at_least <= value <= limit:
            self._bad(key, say.WHOLE, value, low=at_least, high=limit)
        return value

    def whole_under(self, own: str, common: str, *, limit: int = MAX_WHOLE) -> tuple[str, int]:
        """A required whole number for which a family has a word of its `own` beside the one that all others use.

        Returns the key that it stands under, for messages. Refuses two that differ.
        """
        key = own if self.has(own) or not self.has(common) else common
        value = self.whole(key, limit=limit)
        if self.has(common) and self.whole(common, limit=limit) != value:
            self.contradiction(own, common, say.SYNONYMS_DIFFER)
        return key, value

    def number(self, key: str, default: float | None = None) -> float:
        """A finite number; without a default the key is required."""
        value = self._require(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not _finite(value):
            self._bad(key, say.FINITE, value)
        return float(value)

    def flag(self, key: str, default: bool) -> bool:
        value = self._require(key, default)
        if not isinstance(value, bool):
            self._bad(key, say.TRUE_OR_FALSE, value)
        return value

    def positive_numbers(self, key: str) -> tuple[float, ...]:
        """A list of finite numbers above 0."""
        value = self._require(key, None)
        if not isinstance(value, list) or not all(
            isinstance(item, int | float) and not isinstance(item, bool) and _finite(item) and item > 0
            for item in value
        ):
            self._bad(key, say.NUMBERS_ABOVE_0, value)
        return tuple(float(item) for item in value)

    def numbers(self, key: str, count: int, default: float) -> tuple[float, ...]:
        """So many finite numbers; one number, or the default, stands for all."""
        value = self._require(key, default)
        found = value if isinstance(value, list) else [value] * count
        if len(found) != count or any(isinstance(x, bool) or not isinstance(x, int | float) for x in found):
            self._bad(key, say.NUMBERS, value, count=count)
        if not all(map(_finite, found)):
            self._bad(key, say.FINITE, value)
        return tuple(map(float, found))

    def wholes(self, key: str) -> tuple[int, ...]:
        """A list of whole numbers from 0; absent, an empty one."""
        value = self._require(key, [])
        if not isinstance(value, list) or not all(type(item) is int and 0 <= item <= MAX_WHOLE for item in value):
            self._bad(key, say.WHOLES, value)
        return tuple(value)

    def choices(self, key: str, choices: Mapping[str, T]) -> tuple[T, ...] | None:
        """A list of named values, each as the spec means it; None where it is absent."""
        value = self._get(key)
        if value is None:
            return None
        if not isinstance(value, list):
            self._bad(key, say.LIST, value)
        for item in value:
            if not isinstance(item, str) or item not in choices:
                self.cannot_say(key, f"[{' | '.join(choices)}, …]", item)
        return tuple(choices[item] for item in value)

    def choice(self, key: str, choices: Mapping[str, T], default: str | None = None) -> T:
        """What one of the named values means in the spec."""
        value = self._require(key, default)
        if not isinstance(value, str) or value not in choices:
            self.cannot_say(key, " | ".join(choices), value)
        return choices[value]

    def only(self, key: str, *allowed: object) -> None:
        """A key of which the spec can say these values alone; absent is as good as the first."""
        value = self._get(key)
        if value is not None and not any(value == one and type(value) is type(one) for one in allowed):
            self.cannot_say(key, " | ".join(map(_shown, allowed)), value)

    def text(self, key: str) -> str | None:
        value = self._get(key)
        if value is not None and not isinstance(value, str):
            self._bad(key, say.TEXT, value)
        return value

    def raw(self, key: str) -> object:
        """The value as it stands, or None; the caller judges it."""
        return self._get(key)

    def mapping(self, key: str) -> Mapping[str, object]:
        """An object of which its members' names matter; absent, an empty one."""
        value = self._require(key, {})
        if not isinstance(value, dict):
            self._bad(key, say.OBJECT, value)
        return value

    def section(self, key: str) -> ConfigReader | None:
        """A nested object, read as strictly; None where it is absent."""
        value = self._get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            self._bad(key, say.OBJECT, value)
        inner = ConfigReader(value, self.path, f"{self._prefix}{key}.")
        self._sections.append(inner)
        return inner

    def harmless(self, keys: Iterable[str]) -> None:
        """Keys that change nothing in the computation."""
        self._harmless.update(keys)

    def contradiction(self, first: str, second: str, why: Message, **values: object) -> NoReturn:
        """Refuse two keys that cannot both hold, naming both; `values` fill the fields of `why`."""
        raise CheckpointError(
            say.CONTRADICTION,
            path=self.path,
            first=self._prefix + first,
            first_value=_shown(self._get(first)),
            second=self._prefix + second,
            second_value=_shown(self._get(second)),
            why=why,
            **values,
        )

    def cannot_say(self, key: str, expected: str, found: object) -> NoReturn:
        """Refuse a known key for its value."""
        key = self._prefix + key
        raise CheckpointError(say.CANNOT_SAY, path=self.path, key=key, expected=expected, found=_shown(found))

    def finish(self) -> None:
        """Refuse the first key that was neither read nor declared harmless."""
        for key, value in self._values.items():
            if key in (known := self._read | self._harmless):
                continue
            key, hint = self._prefix + key, did_you_mean(key, known)
            raise CheckpointError(say.UNKNOWN_KEY, path=self.path, key=key, found=_shown(value), hint=hint)
        for section in self._sections:
            section.finish()

    def unread(self) -> list[str]:
        """Keys that `finish` would refuse, sections' with what stands before them."""
        known = self._read | self._harmless
        return [self._prefix + key for key in self._values if key not in known] + self._within(ConfigReader.unread)

    def unused(self) -> list[str]:
        """Keys that were declared harmless and that nobody read: what they say changed nothing this time."""
        idle = self._harmless - self._read
        return [self._prefix + key for key in self._values if key in idle] + self._within(ConfigReader.unused)

    def _within(self, of: Callable[[ConfigReader], list[str]]) -> list[str]:
        return [key for section in self._sections for key in of(section)]

    def _get(self, key: str) -> object:
        self._read.add(key)
        return self._values.get(key)

    def _require(self, key: str, default: T) -> object | T:
        value = self._get(key)
        if value is None:
            if default is None:
                raise CheckpointError(say.MISSING_KEY, path=self.path, key=self._prefix + key)
            return default
        return value

    def _bad(self, key: str, expected: Message, found: object, **values: object) -> NoReturn:
        key, shown = self._prefix + key, _shown(found)
        raise CheckpointError(say.BAD_VALUE, path=self.path, key=key, expected=expected, found=shown, **values)


def _finite(value: int | float) -> bool:
    """A whole number of hundreds of digits is finite and still no float."""
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _shown(value: object) -> str:
    """As JSON writes it, near enough for a message, and never long work."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and value.bit_length() > 256:
        return f"a number of {value.bit_length()} bits"
    return "null" if value is None else str(value)[:80]
