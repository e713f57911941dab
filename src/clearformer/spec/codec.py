"""A spec as plain JSON and back: every choice is an object whose `type` names its dataclass.

    {"type": "Rotary", "base": 10000.0, "width": null, "layout": "halves", "scaling": null}

Unknown types and fields are errors with the nearest name; a field left out takes its default. The types of the values
are checked against the annotations before anything is constructed, so a file cannot smuggle in a foreign object.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Iterable
from typing import Any

from clearformer import spec as specs
from clearformer.errors import SpecError
from clearformer.messages import did_you_mean
from clearformer.messages import spec as messages

_TYPES: dict[str, type] = {
    name: found
    for name in specs.__all__
    if dataclasses.is_dataclass(found := getattr(specs, name)) and isinstance(found, type)
}


def to_json(spec: specs.Spec) -> dict[str, Any]:
    """The spec as nested dictionaries of JSON values."""
    written = _write(spec)
    assert isinstance(written, dict)
    return written


def from_json(data: object) -> specs.Spec:
    """The spec that `to_json` wrote, or that a person wrote by hand."""
    read: specs.Spec = _read(data, specs.Spec, "spec", "spec")
    return read


def _write(value: object) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: _write(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"type": type(value).__name__, **fields}
    return [_write(item) for item in value] if isinstance(value, tuple) else value


def _read(data: object, expected: Any, owner: str, field: str) -> Any:
    """The value of one field, of the annotated type `expected`."""
    options = (
        typing.get_args(expected) if typing.get_origin(expected) in (typing.Union, types.UnionType) else (expected,)
    )
    if data is None and type(None) in options:
        return None
    if isinstance(data, dict):
        return _read_object(data, options, owner, field)
    for option in options:
        origin = typing.get_origin(option)
        if origin is typing.Literal and isinstance(data, str):
            return data
        if origin is tuple and isinstance(data, list):
            return tuple(_read(item, typing.get_args(option)[0], owner, field) for item in data)
        if option is float and isinstance(data, int | float) and not isinstance(data, bool):
            return _as_float(data)
        if isinstance(option, type) and type(data) is option:
            return data
    raise SpecError(messages.WRONG_KIND, owner=owner, field=field, expected=_names(options), found=repr(data))


def _read_object(data: dict[Any, Any], options: Iterable[Any], owner: str, field: str) -> Any:
    name = data.get("type")
    if not isinstance(name, str) or name not in _TYPES:
        hint = did_you_mean(name, _TYPES)
        raise SpecError(messages.UNKNOWN_TYPE, found=repr(name), expected=_names(options), hint=hint)
    kind = _TYPES[name]
    if kind not in options:
        raise SpecError(messages.WRONG_KIND, owner=owner, field=field, expected=_names(options), found=name)
    fields = {each.name: each for each in dataclasses.fields(kind)}
    annotations = typing.get_type_hints(kind)
    values = {}
    for key, value in data.items():
        if key == "type":
            continue
        if key not in fields:
            raise SpecError(
                messages.UNKNOWN_FIELD,
                owner=name,
                found=repr(key),
                expected=", ".join(fields) or "–",
                hint=did_you_mean(key, fields),
            )
        values[key] = _read(value, annotations[key], name, key)
    for each in fields.values():
        required = each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
        if required and each.name not in values:
            raise SpecError(messages.MISSING_FIELD, owner=name, field=each.name)
    return kind(**values)


def _as_float(number: int | float) -> float:
    """JSON's whole numbers have no largest; a float's range ends, and what lies past it is infinite."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _names(options: Iterable[Any]) -> str:
    return ", ".join(getattr(option, "__name__", str(option)).replace("NoneType", "null") for option in options)
