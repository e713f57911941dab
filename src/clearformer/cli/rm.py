"""`clearformer rm NAME`: a model out of the cache."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from clearformer.cli.flags import Printing, Spoken
from clearformer.cli.screen import Screen
from clearformer.machine import in_binary_units
from clearformer.messages import cli as say

Name = Annotated[str, Parameter(help="The name of a model in the cache.")]


def rm(name: Name, /, *, flags: Printing = Printing(), language: Spoken = "en") -> None:  # noqa: B008 - frozen
    """Say how much space is free again."""
    import clearformer.store as store

    screen = Screen(language, flags)
    freed = store.remove(name)
    if screen.as_json:
        screen.json({"name": name, "bytes": freed})
    else:
        screen.say(say.REMOVED, name=name, size=in_binary_units(freed))
