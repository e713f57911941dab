"""Flags that several verbs share. A verb takes exactly those that it honours, so that no option does nothing.

`--lang` and `--debug` are not here: they belong to the program and not to a verb, and `main` reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import Parameter, Token

from clearformer.messages import Language

Spoken = Annotated[Language, Parameter(parse=False)]
"""The user's language, which `main` fills in."""

Overrides = Annotated[tuple[tuple[str, str], ...], Parameter(parse=False)]
"""Dotted options with their values, which `main` takes out of the call."""


def _whole(type_: Any, tokens: Sequence[Token]) -> int:
    """cyclopts would round 1.5; here a fraction is no whole number."""
    return int(tokens[0].value)


Whole = Annotated[int, Parameter(converter=_whole)]
"""A whole number, in decimal digits."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Printing:
    """How a result is printed."""

    json: bool = False
    """Print one JSON object (docs/json.md) instead of text."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Progressing(Printing):
    """How a result is printed that takes its time."""

    quiet: bool = False
    """Show no progress."""
