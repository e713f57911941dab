"""What lies in the cache: list it, show its files, take it out."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from clearformer.checkpoint.manifest import check_manifest, read_manifest
from clearformer.errors import CheckpointError, StoreError
from clearformer.messages import store as say
from clearformer.store.places import Kind, cache_errors, contents, model_folder, models_folder, plain_name
from clearformer.store.pull import locked

_HASH_SHOWN = 12


@dataclass(frozen=True)
class StoredFile:
    """One file of a model: path within its folder, bytes, the first digits of its SHA-256."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Installed:
    """A model in the cache; `size` in bytes; `source` says which wheel or Hub id it came from."""

    name: str
    kind: Kind
    path: Path
    source: str
    size: int
    files: tuple[StoredFile, ...]


def installed() -> tuple[Installed, ...]:
    """Every whole model in the cache, by name."""
    folder = models_folder()
    if not folder.is_dir():
        return ()
    with cache_errors(folder):
        names = sorted(path.name for path in folder.iterdir() if plain_name(path.name))
    return tuple(model for name in names if (model := _look(name)))


def show(name: str, *, verify: bool = False) -> Installed:
    """One model of the cache; with `verify`, every file is hashed again first. Raises UsageError, StoreError."""
    if not (model := _look(name)):
        raise StoreError(say.NOT_INSTALLED, name=name, path=models_folder())
    if verify:
        try:
            check_manifest(model_folder(name))
        except CheckpointError as error:
            raise StoreError(error.failure, **error.values) from error
    return model


def remove(name: str) -> int:
    """Take a model out of the cache; returns the bytes freed. Raises UsageError, StoreError."""
    place = model_folder(name)
    if place.is_symlink() or not place.is_dir():
        raise StoreError(say.NOT_INSTALLED, name=name, path=models_folder())
    with locked(name), cache_errors(place):
        size = sum(path.lstat().st_size for path in place.rglob("*") if path.is_file())
        # Renamed first, so that a reader sees the whole model or none; a pull sweeps it if we die here.
        aside = Path(tempfile.mkdtemp(prefix=f".{name}.pull-", dir=models_folder()))
        place.rename(aside / "old")
        shutil.rmtree(aside)
    return size


def _look(name: str) -> Installed | None:
    place = model_folder(name)
    try:
        manifest, found = read_manifest(place), contents(place)
    except CheckpointError:
        return None
    if not found or place.is_symlink():
        return None
    files = tuple(StoredFile(path, e.size, e.sha256[:_HASH_SHOWN]) for path, e in manifest.files.items())
    return Installed(name, *found, manifest.source, sum(file.size for file in files), files)
