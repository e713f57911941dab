"""A spec changed by the dotted names of its fields: `decoder.blocks.*.attention.scale`."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from clearformer.errors import UsageError
from clearformer.messages import did_you_mean
from clearformer.messages import lab_own as say
from clearformer.spec import Spec
from clearformer.spec.codec import from_json, to_json

EVERY = "*"


def rewritten(spec: Spec, changes: Mapping[str, object]) -> Spec:
    """The spec with each named field set; a change of `type` lets the new type's other fields take their defaults.

    Raises UsageError for a name that leads nowhere, SpecError for a value that does not go there.
    """
    if not changes:
        return spec
    written = to_json(spec)
    for name, value in changes.items():
        _set(written, name.split("."), value, name)
    return from_json(written)


def _set(node: Any, path: list[str], value: object, whole: str) -> None:
    first, *rest = path
    for key in _keys(node, first, whole):
        if rest:
            _set(node[key], rest, value, whole)
        elif key == "type":
            node.clear()
            node["type"] = value
        else:
            # Its own copy each time: a later change of one block is no change of another.
            node[key] = deepcopy(value)


def _keys(node: Any, word: str, whole: str) -> list[Any]:
    """The keys of an object or the places of a list that a part of a name means."""
    if isinstance(node, list):
        if word == EVERY:
            return list(range(len(node)))
        if word.isdecimal() and int(word) < len(node):
            return [int(word)]
        raise UsageError(say.NO_PLACE, name=whole, found=word, last=len(node) - 1)
    known = node if isinstance(node, dict) else {}
    if word not in known:
        values = {"expected": ", ".join(known) or "–", "hint": did_you_mean(word, known)}
        raise UsageError(say.NO_SPEC_FIELD, name=whole, found=word, **values)
    return [word]
