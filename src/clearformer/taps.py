"""Named points where an activation can be read or edited; free when off.

A forward pass carries one `Tap` down through the modules. `tap("scores", x)` hands `x` to whoever listens under the
full dotted name, `decoder.blocks.0.attention.scores`, and goes on with what comes back. `OFF` hands back `x` itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

Listener = Callable[[str, Any], Any]

STACKS = ("encoder", "decoder")
"""The first part of a tap's name within a stack; a pattern may leave it out and then means both."""


class Tap:
    """The tap that nobody listens to. Values are tensors or arrays of any shape and pass through untouched."""

    on = False

    def __call__(self, name: str, value: Any) -> Any:
        return value

    def within(self, name: str) -> Tap:
        """The tap for what happens inside the module called `name`."""
        return self

    def hears(self, *names: str) -> bool:
        """Whether anybody listens to one of these points: what nobody hears need not be computed for them."""
        return False


OFF = Tap()


class Listening(Tap):
    """Calls `listener(full_name, value)` at every point whose name matches one of the patterns, all points if none are
    given; what it returns replaces the value, None keeps it."""

    on = True

    def __init__(self, listener: Listener, prefix: str = "", patterns: tuple[str, ...] = ()) -> None:
        self._listener = listener
        self._prefix = prefix
        self._patterns = patterns

    def __call__(self, name: str, value: Any) -> Any:
        if not self.hears(name):
            return value
        answer = self._listener(self._full(name), value)
        return value if answer is None else answer

    def within(self, name: str) -> Listening:
        return Listening(self._listener, self._full(name), self._patterns)

    def hears(self, *names: str) -> bool:
        return not self._patterns or any(
            matches(self._full(name), pattern) for name in names for pattern in self._patterns
        )

    def _full(self, name: str) -> str:
        return f"{self._prefix}.{name}" if self._prefix else name


def matches(name: str, pattern: str) -> bool:
    """Whether a point's full name fits: `*` stands for any part of it between two dots, `**` for any number of parts,
    `?` for one character, and without `encoder.` or `decoder.` in front a pattern means both."""
    within, _, rest = name.partition(".")
    expression = _expression(pattern)
    return expression.fullmatch(name) is not None or (within in STACKS and expression.fullmatch(rest) is not None)


def record(*patterns: str) -> tuple[dict[str, Any], Listening]:
    """A dictionary and the tap that fills it with every point matching one of the patterns, all if none are given."""
    seen: dict[str, Any] = {}

    def keep(name: str, value: Any) -> None:
        seen[name] = value

    return seen, Listening(keep, patterns=patterns)


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    words = {"**": ".*", "*": r"[^.]*", "?": r"[^.]"}
    return re.compile("".join(words.get(part) or re.escape(part) for part in re.split(r"(\*\*|\*|\?)", pattern)))
