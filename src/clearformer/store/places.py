"""Where the cache lies, what a name in it may be, and how a folder there is told to be a model."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from clearformer.errors import StoreError, UsageError
from clearformer.messages import store as say

# Bytes done, bytes in all; the total is 0 where it is not known.
Progress = Callable[[int, int], None]
Kind = Literal["folder", "gguf"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


def home() -> Path:
    """The cache: CLEARFORMER_HOME, else `clearformer` in XDG_CACHE_HOME, else ~/.cache/clearformer."""
    if chosen := os.environ.get("CLEARFORMER_HOME"):
        return without_tilde(chosen)
    shared = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification: a relative path is to be ignored.
    return (Path(shared) if os.path.isabs(shared) else without_tilde("~/.cache")) / "clearformer"


def without_tilde(path: str) -> Path:
    """The path with `~` and `~user` as folders. Raises StoreError for a user without one."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise StoreError(say.NO_HOME, path=path) from None


def models_folder() -> Path:
    """Where the cache keeps models, a folder each."""
    return home() / "models"


def model_folder(name: str) -> Path:
    """The cache's folder for a model's name, the only way from a name to a path. Raises UsageError for a bad name."""
    if not plain_name(name):
        raise UsageError(say.BAD_NAME, name=name)
    return models_folder() / name


def plain_name(name: str) -> bool:
    """Letters, digits, dots, hyphens, underscores, not starting with a mark: never a path."""
    return bool(_NAME.fullmatch(name))


def contents(folder: Path) -> tuple[Kind, Path] | None:
    """What a folder holds: itself, if it has a config.json; its one GGUF file; or no model."""
    if (folder / "config.json").is_file():
        return "folder", folder
    files = sorted(folder.glob("*.gguf"))
    return ("gguf", files[0]) if len(files) == 1 else None


@contextmanager
def cache_errors(path: Path) -> Iterator[None]:
    """An operating-system error on the cache becomes StoreError."""
    try:
        yield
    except OSError as error:
        raise StoreError(say.CACHE_FAILED, path=path, detail=error.strerror or str(error)) from error
