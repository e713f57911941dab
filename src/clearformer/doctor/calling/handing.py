"""All arguments of a call as one: a dictionary whose keys are fields too, or a tuple."""

from __future__ import annotations

from typing import Any


class Handed(dict[str, Any]):
    """What is handed in as one argument: a dictionary whose keys are fields too."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        raise AttributeError(name)

    def to(self, *_: object, **__: object) -> Handed:
        """As a tokenizer's batch has it; the tensors are where the module is."""
        return self


def handed(arguments: dict[str, Any]) -> Any:
    """One argument of all: a tuple where the names are places."""
    if arguments and all(name.isdigit() for name in arguments):
        return tuple(arguments[name] for name in sorted(arguments))
    return Handed(arguments)
