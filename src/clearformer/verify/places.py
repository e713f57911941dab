"""Where things stand in a model: its blocks by the names of their weights, and a spec with some parts changed."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from clearformer.spec import Block, EncoderDecoder, Spec, Stack, TwoTowers, main_stack

T = TypeVar("T")

_BLOCK = re.compile(r"((?:\w+\.)*?(?:encoder|decoder))\.blocks\.(\d+)")


def stacks(spec: Spec) -> dict[str, Stack]:
    """`decoder`, `text.encoder` … → the stack of that name."""
    match spec:
        case EncoderDecoder():
            return {"encoder": spec.encoder, "decoder": spec.decoder}
        case TwoTowers():
            towers = (("text", spec.text), ("image", spec.image))
            return {f"{name}.{side}": each for name, tower in towers for side, each in stacks(tower).items()}
        case _:
            return {"decoder" if hasattr(spec, "decoder") else "encoder": main_stack(spec)}


def blocks(spec: Spec) -> dict[str, Block]:
    """`decoder.blocks.3` … → the block of that name."""
    found = stacks(spec).items()
    return {f"{name}.blocks.{index}": block for name, stack in found for index, block in enumerate(stack.blocks)}


def scopes(spec: Spec, clue: str | None) -> Iterator[tuple[str, frozenset[str]]]:
    """Where a fault may reach, widest first: every block (""), the stack of the clue, its block alone."""
    every = frozenset(blocks(spec))
    yield "", every
    found = _BLOCK.match(clue or "")
    if found is None:
        return
    stack = frozenset(name for name in every if name.startswith(f"{found[1]}.blocks."))
    for name, scope in ((found[1], stack), (found[0], frozenset({found[0]}))):
        if scope < every and scope:
            yield name, scope


def rewritten(spec: T, kind: type | tuple[type, ...], change: Callable[[Any], Any]) -> T:
    """The spec with every part of the kind changed; what has none stays the same object."""
    if isinstance(spec, kind):
        changed: T = change(spec)
        return changed
    return _rebuilt(spec, [(name, part, rewritten(part, kind, change)) for name, part in _parts(spec)])


def transplanted(ours: T, theirs: object, kind: type | tuple[type, ...], fields: tuple[str, ...]) -> T:
    """Our spec with the named fields of every part of the kind as they stand at the same place of the other spec."""
    if isinstance(ours, kind) and type(ours) is type(theirs):
        given = {name: getattr(theirs, name) for name in fields if hasattr(theirs, name)}
        changed: T = dataclasses.replace(ours, **given)  # type: ignore[type-var]
        return changed
    if type(ours) is not type(theirs):
        return ours
    beside = dict(_parts(theirs))
    changed_parts = []
    for name, part in _parts(ours):
        after = transplanted(part, beside[name], kind, fields) if name in beside else part
        changed_parts.append((name, part, after))
    return _rebuilt(ours, changed_parts)


def _parts(spec: object) -> list[tuple[str | int, Any]]:
    if isinstance(spec, tuple):
        return list(enumerate(spec))
    if dataclasses.is_dataclass(spec):
        return [(field.name, getattr(spec, field.name)) for field in dataclasses.fields(spec)]
    return []


def _rebuilt(spec: T, parts: list[tuple[str | int, Any, Any]]) -> T:
    if all(before is after for _, before, after in parts):
        return spec
    if isinstance(spec, tuple):
        return tuple(after for _, _, after in parts)  # type: ignore[return-value]
    changed: T = dataclasses.replace(spec, **{str(name): after for name, _, after in parts})  # type: ignore[type-var]
    return changed
