"""Models of the Hugging Face Hub, through huggingface_hub and its own cache; HF_* variables are honoured by it.

What is fetched is known and bounded first: `find`, then `fetch`. Without a network the Hub's cache must do.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from clearformer.errors import ClearformerError, StoreError
from clearformer.messages import store as say
from clearformer.store.hub_listing import AS_FOLDER, HubFile, HubName, Wanted, check, matching, wanted_of
from clearformer.store.places import Progress


@dataclass(frozen=True)
class Plan:
    """What will be fetched of a Hub model. `missing` bytes are not in the Hub's cache yet."""

    name: HubName
    wanted: Wanted
    files: tuple[HubFile, ...]
    commit: str
    missing: int

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


Announce = Callable[[Plan], None]
"""Told what will be fetched, before it is."""


@dataclass(frozen=True)
class Copy:
    """A Hub model on this disk: a folder, a GGUF file, or a folder whose weights are pickles."""

    kind: Literal["folder", "gguf", "pickles"]
    path: Path


def find(name: HubName) -> Plan | Copy:
    """What the Hub would send; where it cannot be asked, what its cache holds. Raises StoreError, UsageError."""
    try:
        return _planned(name)
    except StoreError as error:
        if error.failure is say.HUB_UNREACHABLE and (copy := _cached(name)):
            return copy
        raise


def fetch(found: Plan, progress: Progress, *, again: bool = False) -> Copy:
    """Fetch what is planned into the Hub's cache. Raises StoreError."""
    _require_space(hub_cache(), found.size if again else found.missing, found.name)
    copy = _copy(found.wanted, _snapshot(found.name, found.wanted, _bar(progress, found), again=again))
    if again or found.missing:
        progress(found.size, found.size)  # two files of the same content are fetched once
    return copy


def fetch_into(name: HubName, target: Path, progress: Progress) -> None:
    """Fetch a model's folder past the Hub's cache. Raises StoreError, UsageError."""
    found = _planned(name)
    _require_space(target, found.size, name)
    _snapshot(name, found.wanted, _bar(progress, found), target=target)


def _planned(name: HubName) -> Plan:
    from huggingface_hub import HfApi

    with _hub_errors(name):
        # One question, not retried for half a minute where there is no network.
        info = HfApi().model_info(name.id, revision=name.revision, files_metadata=True)
    listed = {file.rfilename: file.size for file in info.siblings or []}
    wanted = wanted_of(name, listed)
    files = []
    for each in matching(wanted, sorted(listed)):
        if (size := listed[each]) is None:
            raise StoreError(say.HUB_NO_SIZE, name=name.id, file=each)
        files.append(HubFile(each, size))
    check(name, files)
    commit = str(info.sha)
    missing = sum(file.size for file in files if not _is_cached(name, file.name, commit))
    return Plan(name, wanted, tuple(files), commit, missing)


def _cached(name: HubName) -> Copy | None:
    """What the Hub's cache holds whole, asking nobody. Raises UsageError where several GGUF files could be meant."""
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        folder = _snapshot(name, Wanted(()) if name.file else AS_FOLDER, None, local=True)
    except StoreError as error:
        if isinstance(error.__cause__, LocalEntryNotFoundError):
            return None
        raise
    names = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return _copy(wanted_of(name, names), folder)


def _copy(wanted: Wanted, folder: Path) -> Copy:
    if wanted.file is not None:
        return Copy("gguf", folder / wanted.file)
    return Copy("pickles" if wanted.pickles else "folder", folder)


def _require_space(place: Path, needed: int, name: HubName) -> None:
    while not place.exists():
        place = place.parent
    if (free := shutil.disk_usage(place).free) < needed:
        raise StoreError(say.HUB_NO_SPACE, path=place, needed=needed, free=free, name=name)


def hub_cache() -> Path:
    """Where huggingface_hub keeps models."""
    from huggingface_hub.constants import HF_HUB_CACHE

    return Path(HF_HUB_CACHE)


def _is_cached(name: HubName, file: str, commit: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(name.id, file, revision=commit), str)


def _snapshot(
    name: HubName, wanted: Wanted, bar: Any, *, again: bool = False, local: bool = False, target: Path | None = None
) -> Path:
    from huggingface_hub import snapshot_download

    with _hub_errors(name):
        found = snapshot_download(
            name.id,
            revision=name.revision,
            allow_patterns=list(wanted.patterns),
            ignore_patterns=list(wanted.ignored),
            local_dir=target,
            tqdm_class=bar,
            force_download=again,
            local_files_only=local,
        )
    return Path(str(found))


@contextmanager
def _hub_errors(name: HubName) -> Iterator[None]:
    from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError, RevisionNotFoundError

    try:
        yield
    except ClearformerError:
        raise
    except RevisionNotFoundError:
        raise StoreError(say.HUB_NO_REVISION, name=name.id, revision=name.revision) from None
    except (RepositoryNotFoundError, HFValidationError):  # the first covers gated models
        raise StoreError(say.HUB_NOT_FOUND, name=name.id) from None
    except Exception as error:  # the HTTP library's own errors, and the operating system's, have no common tree
        detail = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        raise StoreError(say.HUB_UNREACHABLE, name=name, detail=detail) from error


def _bar(progress: Progress, found: Plan) -> Any:
    """A tqdm class that shows nothing, reports the bytes of the whole snapshot to `progress`, and ends a download that
    brings more than was announced."""
    from huggingface_hub.utils.tqdm import tqdm

    lock = Lock()

    class Silent(tqdm):
        n: float

        def __init__(self, *args: Any, **options: Any) -> None:
            self.counts_bytes = options.get("name") == "huggingface_hub.snapshot_download"
            super().__init__(*args, **{**options, "disable": True})
            self.total, self.n = options.get("total", 0), 0

        def update(self, n: float | None = 1) -> bool | None:
            with lock:  # several files arrive at once, and what is reported never goes back
                self.n += n or 0
                if self.counts_bytes and self.n > found.size:
                    raise StoreError(say.HUB_SENDS_MORE, name=found.name, limit=found.size)
                if self.counts_bytes:
                    progress(int(self.n), found.size)
            return None

    return Silent
