"""`clearformer show NAME`: what a cached model consists of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from clearformer.cli.flags import Printing, Spoken
from clearformer.cli.screen import Screen
from clearformer.machine import in_binary_units
from clearformer.messages import cli as say

Name = Annotated[str, Parameter(help="The name of a model in the cache.")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Showing(Printing):
    """How closely to look."""

    verify: bool = False
    """Hash every file again and compare."""


def show(name: Name, /, *, flags: Showing = Showing(), language: Spoken = "en") -> None:
    """Origin, files, sizes and hashes; the last line is the model's path."""
    import clearformer.store as store

    screen = Screen(language, flags)
    model = store.show(name, verify=flags.verify)
    if screen.as_json:
        files = [{"name": file.name, "bytes": file.size, "sha256": file.sha256} for file in model.files]
        about = {"name": model.name, "kind": model.kind, "path": str(model.path), "source": model.source}
        screen.json({**about, "bytes": model.size, "files": files, "verified": flags.verify})
        return
    screen.table([(model.name, in_binary_units(model.size), model.source)])
    screen.table([(file.name, in_binary_units(file.size), file.sha256) for file in model.files])
    if flags.verify:
        screen.say(say.INTACT)
    screen.text(str(model.path))
