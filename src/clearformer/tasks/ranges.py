"""Settings of a task that are out of their range, refused before anything is read."""

from __future__ import annotations

from clearformer.errors import UsageError
from clearformer.messages import Message
from clearformer.messages import tasks as say


def require_counts(settings: object, *names: str) -> None:
    """Raises UsageError for a size of the model, or another of these fields of it, that is below 1."""
    for name in names:
        require(f"model.{name}", getattr(settings, name), getattr(settings, name) >= 1, say.WHOLE_FROM_1)


def require(name: str, value: object, holds: bool, expected: Message, **values: object) -> None:
    """Raises UsageError naming the field, by its dotted name, and the range `expected`; `values` fill the range."""
    if not holds:
        raise UsageError(say.OUT_OF_RANGE, field=name, expected=expected, found=value, **values)
