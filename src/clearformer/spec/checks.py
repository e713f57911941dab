"""How a spec refuses what cannot be: each check names the field, what was expected and what was found."""

from __future__ import annotations

import math
from typing import Any, get_args

from clearformer.errors import SpecError
from clearformer.messages import Message
from clearformer.messages import spec as messages

# As far as JSON's whole numbers go; products of such sizes still have a logarithm and a float.
_LARGEST = 1 << 53


def positive(owner: object, *fields: str) -> None:
    """Whole numbers of at least 1."""
    for field in fields:
        value = getattr(owner, field)
        require(_whole(value) and value >= 1, owner, field, messages.WHOLE_FROM_1)


def not_negative(owner: object, *fields: str) -> None:
    """Whole numbers of at least 0."""
    for field in fields:
        value = getattr(owner, field)
        require(_whole(value) and value >= 0, owner, field, messages.WHOLE_FROM_0)


def above_zero(owner: object, *fields: str) -> None:
    """Finite numbers above 0; None means that the choice is not made."""
    for field in fields:
        value = getattr(owner, field)
        require(value is None or (_number(value) and value > 0), owner, field, messages.FINITE_ABOVE_0)


def each_above_zero(owner: object, *fields: str) -> None:
    """Tuples of finite numbers above 0."""
    for field in fields:
        values = getattr(owner, field)
        held = isinstance(values, tuple) and all(_number(value) and value > 0 for value in values)
        require(held, owner, field, messages.ALL_FINITE_ABOVE_0)


def probability(owner: object, *fields: str) -> None:
    """Dropout rates: 0 ≤ p < 1."""
    for field in fields:
        value = getattr(owner, field)
        require(_number(value) and 0 <= value < 1, owner, field, messages.PROBABILITY)


def one_of(owner: object, field: str, choices: Any) -> None:
    """`choices` is a `Literal`."""
    value = getattr(owner, field)
    if value not in get_args(choices):
        raise SpecError(
            messages.NOT_ONE_OF,
            owner=type(owner).__name__,
            field=field,
            expected=", ".join(get_args(choices)),
            found=value,
        )


def require(held: bool, owner: object, field: str, expected: Message, **values: object) -> None:
    """Refuse the field's value unless it `held` to what is `expected`; `values` fill the fields of that message."""
    if not held:
        found = repr(getattr(owner, field))
        raise SpecError(
            messages.OUT_OF_RANGE, owner=type(owner).__name__, field=field, expected=expected, found=found, **values
        )


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value <= _LARGEST


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
