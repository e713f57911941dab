"""Functions in words that are the same in every process, so that a trial can be told from one of another arm."""

from __future__ import annotations

from functools import partial


def described(part: object) -> object:
    """A function by its name, with what it is bound to; never by where it lies in memory."""
    if isinstance(part, partial):
        return [
            described(part.func),
            [repr(value) for value in part.args],
            {k: repr(v) for k, v in part.keywords.items()},
        ]
    return getattr(part, "__qualname__", repr(part))
