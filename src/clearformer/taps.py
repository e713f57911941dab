"""Named points where an activation can be read or edited; free when off.

A forward pass carries one `Tap` down through the modules. `tap("scores", x)` hands `x` to whoever listens under the
full dotted name, `decoder.blocks.0.attention.scores`, and goes on with what comes back. `OFF` hands back `x` itself.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable
from typing import Any

Listener = Callable[[str, Any], Any]


class Tap:
    """The tap that nobody listens to. Values are tensors or arrays of any shape and pass through untouched."""

    on = False

    def __call__(self, name: str, value: Any) -> Any:
        return value

    def within(self, name: str) -> Tap:
        """The tap for what happens inside the module called `name`."""
        return self


OFF = Tap()


class Listening(Tap):
    """Calls `listener(full_name, value)` at every point; what it returns replaces the value, None keeps it."""

    on = True

    def __init__(self, listener: Listener, prefix: str = "") -> None:
        self._listener = listener
        self._prefix = prefix

    def __call__(self, name: str, value: Any) -> Any:
        answer = self._listener(self._full(name), value)
        return value if answer is None else answer

    def within(self, name: str) -> Listening:
        return Listening(self._listener, self._full(name))

    def _full(self, name: str) -> str:
        return f"{self._prefix}.{name}" if self._prefix else name


def record(*patterns: str) -> tuple[dict[str, Any], Listening]:
    """A dictionary and the tap that fills it with every point whose full name matches one of the shell patterns."""
    seen: dict[str, Any] = {}

    def keep(name: str, value: Any) -> None:
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns or ("*",)):
            seen[name] = value

    return seen, Listening(keep)
