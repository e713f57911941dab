"""Which ids mark beginning, end and padding: declared, or known to the tokenizer, the config or the collator."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from clearformer.doctor.forms.arguments import role_of, written
from clearformer.doctor.parts import Parts

_ROLES = ("eos_id", "bos_id", "pad_id")


@dataclass(frozen=True)
class SpecialIds:
    pad: int | None
    bos: int | None
    eos: int | None


def special_ids(parts: Parts) -> SpecialIds:
    """What the user declared comes first, then his tokenizer, his model's config, then names beside his collator."""
    sources = list(_sources(parts))

    def first(role: str, *names: str) -> int | None:
        for source in sources:
            for name in (role, *names):
                found = source.get(name)
                found = found[0] if isinstance(found, list) and found else found
                if isinstance(found, int) and not isinstance(found, bool) and found >= 0:
                    return found
        return None

    return SpecialIds(first("pad_id", "pad_token_id"), first("bos_id", "bos_token_id"), first("eos_id", "eos_token_id"))


def _sources(parts: Parts) -> Iterator[Mapping[str, Any]]:
    yield {role: getattr(parts, role) for role in _ROLES}
    for object_ in (parts.tokenizer, getattr(parts.collate, "tokenizer", None), getattr(parts.model, "config", None)):
        if object_ is not None and not isinstance(object_, str):
            names = [*_ROLES, *(f"{role[:3]}_token_id" for role in _ROLES)]
            yield {name: getattr(object_, name, None) for name in names}
    for function in (parts.collate, parts.loss):
        if function is not None:
            yield _beside(function)


def _beside(function: Callable[..., Any]) -> dict[str, Any]:
    """Names such as PAD or eos_token_id among a function's defaults, closure, attributes and its file's globals."""
    found: dict[str, Any] = {}
    target = getattr(function, "func", function)
    keywords = dict(getattr(function, "keywords", None) or {})
    code_of = written(function)
    named: list[Mapping[str, Any]] = [keywords, getattr(target, "__dict__", {})]
    if inspect.isfunction(code_of):
        outer = inspect.getclosurevars(code_of)
        defaults = {n: p.default for n, p in inspect.signature(code_of).parameters.items()}
        named += [defaults, outer.nonlocals, outer.globals]
        for held in (*outer.nonlocals.values(), *outer.globals.values()):
            named.append({n: getattr(held, n, None) for n in ("pad_token_id", "eos_token_id", "bos_token_id")})
    for names in named:
        for name, value in names.items():
            role = role_of(name, _ROLES)
            if role is not None and isinstance(value, int):
                found.setdefault(role, value)
    return found
