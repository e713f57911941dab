"""Files and folders that appear whole or not at all: write aside, fsync, rename, fsync the parent.

The order is what a power loss needs: contents reach the disk before the name does.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clearformer.errors import CheckpointError
from clearformer.messages import checkpoint as say

TEMPORARY = ".partial-"


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`: write it in the body; it then replaces `path`. Raises CheckpointError."""
    with _write_errors(path):
        descriptor, name = tempfile.mkstemp(prefix=TEMPORARY, dir=path.parent)
        os.close(descriptor)
    temporary = Path(name)
    try:
        with _write_errors(path):
            yield temporary
            temporary.chmod(0o666 & ~_umask())
            sync(temporary)
            temporary.replace(path)
            sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A temporary folder beside `path`: fill it in the body; it then becomes `path`. Raises CheckpointError.

    `path` must not exist, or be an empty folder.
    """
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise CheckpointError(say.EXISTS, path=path)
    with _write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=TEMPORARY, dir=path.parent))
    try:
        with _write_errors(path):
            yield temporary
            temporary.chmod(0o777 & ~_umask())
            sync_tree(temporary)
            temporary.replace(path)
            sync(path.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def new_files(folder: Path, last: str) -> Iterator[Path]:
    """A temporary folder within `folder`: fill it in the body; its files then replace those of the same names, `last`
    after all others. Raises CheckpointError."""
    with _write_errors(folder):
        temporary = Path(tempfile.mkdtemp(prefix=TEMPORARY, dir=folder))
    try:
        with _write_errors(folder):
            yield temporary
            sync_tree(temporary)
            for path in sorted(temporary.iterdir(), key=lambda path: path.name == last):
                path.replace(folder / path.name)
            sync(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_bytes(path: Path, content: bytes) -> None:
    """Put `content` at `path`, whole or not at all. Raises CheckpointError."""
    with new_file(path) as temporary:
        temporary.write_bytes(content)


def sync_tree(folder: Path) -> None:
    """fsync every file, then every folder, innermost first."""
    for inner, _, names in os.walk(folder, topdown=False):
        for name in names:
            sync(Path(inner, name))
        sync(Path(inner))


def sync(path: Path) -> None:
    """fsync one file or folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CheckpointError(say.WRITE_FAILED, path=path, detail=error.strerror or str(error)) from error
    except CheckpointError as error:
        # What failed inside is a temporary path; the user knows the one that it was to become.
        if error.failure is say.WRITE_FAILED:
            raise CheckpointError(say.WRITE_FAILED, path=path, detail=error.values["detail"]) from error
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
