"""Opening files that nobody vouches for: size before content, no devices, no way out of the folder, plain JSON."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from clearformer.errors import CheckpointError
from clearformer.messages import checkpoint as say

JSON_DEPTH = 64
# Ten megabytes of `[],` would be three million lists: seconds, and hundreds of megabytes. A tensor's entry has three.
JSON_CONTAINERS = 500_000


def open_regular(path: Path) -> tuple[BinaryIO, int]:
    """Open a regular file for reading; returns it with its size in bytes. Raises CheckpointError."""
    try:
        # A FIFO would block the open itself; O_NONBLOCK means nothing to a regular file.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        raise CheckpointError(say.MISSING, path=path) from None
    except (OSError, ValueError) as error:
        raise CheckpointError(say.UNREADABLE, path=path, detail=_reason(error)) from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise CheckpointError(say.NOT_REGULAR, path=path)
    return os.fdopen(descriptor, "rb"), status.st_size


def read_bounded(path: Path, limit: int) -> bytes:
    """The bytes of a file of at most `limit` bytes. Raises CheckpointError."""
    file, size = open_regular(path)
    with file:
        if size > limit:
            raise CheckpointError(say.TOO_LARGE, path=path, limit=limit, found=size)
        try:
            content = file.read(limit + 1)
        except OSError as error:
            raise CheckpointError(say.UNREADABLE, path=path, detail=_reason(error)) from None
    if len(content) > limit:  # it grew while it was read
        raise CheckpointError(say.TOO_LARGE, path=path, limit=limit, found=len(content))
    return content


def read_json(path: Path, limit: int) -> dict[str, object]:
    """A file that holds one JSON object. Raises CheckpointError."""
    return json_object(read_bounded(path, limit), path)


def json_object(content: bytes, path: Path) -> dict[str, object]:
    """Parse one JSON object: no key twice, at most `JSON_DEPTH` levels and `JSON_CONTAINERS` lists and objects.

    Raises CheckpointError, naming `path`.
    """

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        unique_pairs = dict(pairs)
        if len(unique_pairs) < len(pairs):
            keys = sorted(key for key, _ in pairs)
            twice = next(key for key, following in pairwise(keys) if key == following)
            raise CheckpointError(say.DUPLICATE_KEY, path=path, key=twice)
        return unique_pairs

    if (found := content.count(b"[") + content.count(b"{")) > JSON_CONTAINERS:
        raise CheckpointError(say.TOO_MANY_CONTAINERS, path=path, limit=JSON_CONTAINERS, found=found)
    try:
        value = json.loads(content.decode("utf-8"), object_pairs_hook=unique)
    except RecursionError:
        raise CheckpointError(say.TOO_DEEP, path=path, limit=JSON_DEPTH) from None
    except ValueError as error:  # not UTF-8, not JSON, or an integer of more digits than Python reads
        raise CheckpointError(say.NOT_JSON, path=path, detail=_reason(error)) from None
    if not isinstance(value, dict):
        raise CheckpointError(say.NOT_OBJECT, path=path, found=type(value).__name__)
    _check_depth(value, path)
    return value


def _check_depth(value: object, path: Path) -> None:
    level = [value]
    for _ in range(JSON_DEPTH):
        level = [inner for outer in level for inner in _children(outer)]
        if not level:
            return
    raise CheckpointError(say.TOO_DEEP, path=path, limit=JSON_DEPTH)


def _children(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def given(folder: Path, name: str) -> bool:
    """True where anything has this name, a broken link or a folder too: what is there must be readable, not skipped."""
    return os.path.lexists(folder / name)


def inside(folder: Path, name: str) -> Path:
    """The path of the plain file name `name` in `folder`, wherever its link leads, as long as that stays inside.

    A Hub cache keeps `snapshots/REVISION/FILE` as links into `blobs/` beside it: those count as inside.
    Raises CheckpointError.
    """
    # A lone surrogate has no file name; 255 bytes is the longest that file systems take.
    plain = not set(name) & set("/\\\0:") and 0 < len(name.encode(errors="replace")) <= 255 and name.isprintable()
    if plain and name not in (".", ".."):
        path, roots = folder / name, [folder]
        if folder.absolute().parent.name == "snapshots":
            roots.append(folder.absolute().parent.parent / "blobs")
        target = Path(os.path.realpath(path))
        if any(target.is_relative_to(os.path.realpath(root)) for root in roots):
            return path
    raise CheckpointError(say.ESCAPES, path=folder, name=name)


@contextmanager
def foreign_parser(path: Path) -> Iterator[None]:
    """Whatever another library's parser throws, a Rust panic (a BaseException) included, becomes CheckpointError."""
    try:
        yield
    except (CheckpointError, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException as error:
        raise CheckpointError(say.FOREIGN, path=path, detail=_reason(error)) from None


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"{type(error).__name__}: {error}"
