"""Hub models whose weights are pickles: fetched, converted beside their place in our cache, then renamed into it."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from clearformer.checkpoint.manifest import read_manifest
from clearformer.errors import CheckpointError
from clearformer.store.hub_listing import HubName
from clearformer.store.places import Progress, cache_errors, model_folder, models_folder
from clearformer.store.pull import disk_errors, finish, is_whole, locked, put, workshop

_LONGEST = 150


def converted(name: HubName) -> Path | None:
    """The folder in our cache with this model's weights as safetensors; None where there is none."""
    place = model_folder(_stored_name(name))
    try:
        return place if is_whole(place) and read_manifest(place).source == _origin(name) else None
    except CheckpointError:
        return None


def convert(name: HubName, snapshot: Path, progress: Progress) -> Path:
    """Convert what was fetched and keep it in our cache, all or nothing. Raises CheckpointError for pickles that are
    not weights alone, StoreError."""
    # Imported here: it takes torch, which no other name needs on its way to a path.
    from clearformer.checkpoint.pickle_files import PICKLE_INDEX, convert_folder

    stored, place = _stored_name(name), model_folder(_stored_name(name))
    with cache_errors(place):
        place.parent.mkdir(parents=True, exist_ok=True)
    with locked(stored), workshop(stored) as shop:
        content = shop / "model"
        content.mkdir()
        convert_folder(snapshot, content, progress)
        size = sum(path.stat().st_size for path in content.iterdir())
        with disk_errors(stored, models_folder(), size):
            for path in snapshot.rglob("*"):
                if path.is_file() and path.suffix != ".bin" and path.name != PICKLE_INDEX:
                    copy = content / path.relative_to(snapshot)
                    copy.parent.mkdir(exist_ok=True)
                    shutil.copyfile(path, copy)
            finish(content, _origin(name))
        put(shop, place)
    return place


def _stored_name(name: HubName) -> str:
    """A Hub id holds no double hyphen, so that this name is no other model's; the manifest holds the whole name."""
    parts = [*name.id.split("/"), *([name.revision.replace("/", "-")] if name.revision else [])]
    stored = "--".join(parts)
    digest = hashlib.sha256(str(name).encode()).hexdigest()
    return stored if len(stored) <= _LONGEST else f"{stored[:_LONGEST]}--{digest[:16]}"


def _origin(name: HubName) -> str:
    return f"hub {name} (pickle)"
