"""Frozen dataclasses as plain data and back: every choice is an object whose `type` names its dataclass.

    {"type": "Rotary", "base": 10000.0, "width": null, "layout": "halves", "scaling": null}

Unknown types and fields are errors with the nearest name; a field left out takes its default. The types of the values
are checked against the annotations before anything is constructed, so a file cannot smuggle in a foreign object.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from clearformer.errors import ClearformerError
from clearformer.messages import did_you_mean
from clearformer.messages import spec as messages


def write(value: object) -> Any:
    """Dataclasses as dictionaries with their `type`, tuples as lists."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: write(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"type": type(value).__name__, **fields}
    return [write(item) for item in value] if isinstance(value, tuple) else value


def defaults_of(kind: type) -> dict[str, Any]:
    """The fields of a dataclass that have a default, written."""
    written = {}
    for field in dataclasses.fields(kind):
        if field.default is not dataclasses.MISSING:
            written[field.name] = write(field.default)
        elif field.default_factory is not dataclasses.MISSING:
            written[field.name] = write(field.default_factory())
    return written


def options_of(annotation: Any) -> tuple[Any, ...]:
    """The members of a union; of anything else, itself."""
    union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    return typing.get_args(annotation) if union else (annotation,)


def choices_of(annotation: Any) -> dict[str, type]:
    """The dataclasses that a value of this annotation may be, by name."""
    return _dataclasses(options_of(annotation))


def types_within(annotation: Any) -> dict[str, type]:
    """Every dataclass that a tree of this annotation may hold, by name."""
    found: dict[str, type] = {}
    waiting = [annotation]
    while waiting:
        annotation = waiting.pop()
        waiting += [option for option in options_of(annotation) if option is not annotation]
        waiting += typing.get_args(annotation)
        if isinstance(annotation, type) and dataclasses.is_dataclass(annotation) and annotation.__name__ not in found:
            found[annotation.__name__] = annotation
            waiting += typing.get_type_hints(annotation).values()
    return found


@dataclass(frozen=True)
class Reader:
    """Reads plain data into the types of an annotation; `known` are all type names that may be meant.

    `implied` lets an object go without `type` where its field has only one.
    """

    known: Mapping[str, type]
    error: type[ClearformerError]
    implied: bool = False

    def read(self, data: object, expected: Any, owner: str, field: str) -> Any:
        """The value of one field, of the annotated type `expected`."""
        options = options_of(expected)
        if data is None and type(None) in options:
            return None
        if isinstance(data, dict):
            return self._object(data, options, owner, field)
        for option in options:
            if typing.get_origin(option) is tuple and isinstance(data, list):
                return self._members(data, typing.get_args(option), owner, field)
            if (value := self.plain(data, option)) is not None:
                return value
        raise self.error(messages.WRONG_KIND, owner=owner, field=field, expected=names(options), found=repr(data))

    def plain(self, data: object, option: Any) -> Any:
        """The data as one plain type; None if it is not of it. Which words a Literal allows, its dataclass checks."""
        if typing.get_origin(option) is typing.Literal and isinstance(data, str):
            return data
        if option is float and isinstance(data, int | float) and not isinstance(data, bool):
            return _as_float(data)
        return data if isinstance(option, type) and type(data) is option else None

    def _members(self, data: list[Any], kinds: tuple[Any, ...], owner: str, field: str) -> tuple[Any, ...]:
        if kinds[-1] is Ellipsis:
            kinds = (kinds[0],) * len(data)
        if len(kinds) != len(data):
            expected = f"{len(kinds)} values"
            raise self.error(messages.WRONG_KIND, owner=owner, field=field, expected=expected, found=repr(data))
        return tuple(self.read(item, kind, owner, field) for item, kind in zip(data, kinds, strict=True))

    def _object(self, data: dict[Any, Any], options: Iterable[Any], owner: str, field: str) -> Any:
        kind = self._kind(data, options, owner, field)
        fields = {each.name: each for each in dataclasses.fields(kind)}
        annotations = typing.get_type_hints(kind)
        values = {}
        for key, value in data.items():
            if key == "type":
                continue
            if key not in fields:
                known, hint = ", ".join(fields) or "–", did_you_mean(key, fields)
                found = repr(key)
                raise self.error(messages.UNKNOWN_FIELD, owner=kind.__name__, found=found, expected=known, hint=hint)
            values[key] = self.read(value, annotations[key], kind.__name__, key)
        for each in fields.values():
            required = each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
            if required and each.name not in values:
                raise self.error(messages.MISSING_FIELD, owner=kind.__name__, field=each.name)
        return kind(**values)

    def _kind(self, data: dict[Any, Any], options: Iterable[Any], owner: str, field: str) -> Any:
        """The dataclass that an object names."""
        fitting = _dataclasses(options)
        if self.implied and "type" not in data:
            if len(fitting) == 1:
                return next(iter(fitting.values()))
            failure = messages.TYPE_LEFT_OUT if fitting else messages.WRONG_KIND
            raise self.error(failure, owner=owner, field=field, expected=names(options), found=repr(data))
        name = data.get("type")
        if isinstance(name, str) and name in fitting:
            return fitting[name]
        if isinstance(name, str) and name in self.known:
            raise self.error(messages.WRONG_KIND, owner=owner, field=field, expected=names(options), found=name)
        hint = did_you_mean(name, fitting or self.known)
        raise self.error(messages.UNKNOWN_TYPE, found=repr(name), expected=names(options), hint=hint)


def names(options: Iterable[Any]) -> str:
    """Types as an error names them; a Literal by its words."""
    words: list[str] = []
    for option in options:
        literal = typing.get_origin(option) is typing.Literal
        words += map(str, typing.get_args(option)) if literal else [getattr(option, "__name__", str(option))]
    return ", ".join(words).replace("NoneType", "null")


def _dataclasses(options: Iterable[Any]) -> dict[str, type]:
    return {
        option.__name__: option for option in options if isinstance(option, type) and dataclasses.is_dataclass(option)
    }


def _as_float(number: int | float) -> float:
    """JSON's whole numbers have no largest; a float's range ends, and what lies past it is infinite."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
