"""From what a user typed to a model on disk: one function, one order.

A run's name, a folder, a .gguf file, a built-in name (fetched at first use), a Hub id.
"""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from pathlib import Path

from clearformer.errors import StoreError, UsageError
from clearformer.messages import store as say
from clearformer.store import hub
from clearformer.store.builtin import BUILTIN, Builtin
from clearformer.store.converted import converted
from clearformer.store.hub_listing import HubName, hub_name
from clearformer.store.places import Kind, Progress, contents, plain_name, without_tilde
from clearformer.store.pull import pull, silent

RUNS = Path("runs")
_LONGEST = 4096


@dataclass(frozen=True)
class Located:
    """A model on disk: `path` is a folder with a config.json, or a GGUF file; `name` is what to call it."""

    kind: Kind
    path: Path
    name: str


def resolve(model: str, *, progress: Progress = silent) -> Located:
    """Find the model that `model` names, fetching it if it is built in or on the Hub and not here yet.

    Raises UsageError for what names nothing, StoreError for what cannot be fetched.
    """
    found = located(model)
    if isinstance(found, Located):
        return found
    if isinstance(found, Builtin):
        return _stored(model, pull(model, progress=progress))
    if place := converted(found):
        return Located("folder", place, model)
    here = hub.find(found)
    if isinstance(here, hub.Plan):
        if here.wanted.pickles:
            raise StoreError(say.HUB_ONLY_PICKLES, name=found)
        here = hub.fetch(here, progress)
    if here.kind == "pickles":
        raise StoreError(say.HUB_ONLY_PICKLES, name=found)
    return Located(here.kind, here.path, model)


def located(model: str) -> Located | Builtin | HubName:
    """What `model` names: a run, a folder or a file that is here, a built-in model, or one on the Hub; nothing is
    fetched. Raises UsageError for what names nothing."""
    if not model or len(model) > _LONGEST or "\0" in model or not _encodable(model):
        raise UsageError(say.BAD_NAME, name=model)
    if plain_name(model) and (run := contents(RUNS / model)):
        return Located(*run, name=model)
    if found := _on_disk(without_tilde(model)):
        return found
    if model in BUILTIN:
        return BUILTIN[model]
    if _looks_like_a_path(model):
        raise UsageError(say.NO_SUCH_PATH, path=model)
    if Path(model).parts[0] == RUNS.name:
        # The names of runs begin so; whoever mistypes one means no repository.
        raise UsageError(say.NO_SUCH_RUN, path=model, runs=", ".join(runs_here()) or "–")
    if name := hub_name(model):
        return name
    raise _unknown(model)


def is_here(model: str) -> bool:
    """Whether a run, a folder with a model or a .gguf file here has that name; whatever else lies there is none."""
    try:
        return bool(plain_name(model) and contents(RUNS / model)) or _on_disk(without_tilde(model)) is not None
    except UsageError:
        return False


def runs_here() -> list[str]:
    """The names of the runs in this folder that hold a model."""
    return sorted(path.name for path in RUNS.iterdir() if contents(path)) if RUNS.is_dir() else []


def _on_disk(path: Path) -> Located | None:
    """A folder or a .gguf file at a path. Something else at a path is an error, unless it has a built-in's name."""
    try:
        if path.is_dir():
            found = contents(path)
        elif path.is_file() and path.suffix == ".gguf":
            found = ("gguf", path)
        elif path.exists():
            found = None
        else:
            return None
    except OSError:  # a component is too long, or not ours to look into
        return None
    if found:
        kind, place = found
        return Located(kind, place, place.stem if kind == "gguf" else place.resolve().name)
    if str(path) in BUILTIN:
        return None
    raise UsageError(say.NOT_A_MODEL, path=path)


def _stored(name: str, folder: Path) -> Located:
    if found := contents(folder):
        return Located(*found, name=name)
    raise StoreError(say.NOT_A_MODEL, path=folder)


def _looks_like_a_path(model: str) -> bool:
    parts = model.split("/")
    return os.path.isabs(model) or model.startswith(("~", ".")) or ".." in parts or "\\" in model or parts[-1] == ""


def _encodable(model: str) -> bool:
    """Lone surrogates stand for bytes that were not text."""
    try:
        model.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unknown(model: str) -> UsageError:
    builtin = ", ".join(BUILTIN)
    if model.endswith(".gguf"):
        return UsageError(say.NO_SUCH_PATH, path=model)
    if guesses := difflib.get_close_matches(model.lower(), [*BUILTIN, *runs_here()], n=1, cutoff=0.5):
        return UsageError(say.UNKNOWN_MODEL, name=model, guess=guesses[0], builtin=builtin)
    return UsageError(say.UNHEARD_MODEL, name=model, builtin=builtin)
