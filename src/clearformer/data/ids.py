"""A text as ids on the disk, mapped into memory: as long as the disk allows, and shared by the workers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from clearformer.checkpoint.atomic import new_file, write_bytes
from clearformer.errors import CheckpointError, DataError
from clearformer.messages import data as say

_PIECE = 1 << 20
_PROBE = 10_000
Encode = Callable[[str], list[int]]


@dataclass(frozen=True)
class IdFile:
    """`ids` holds every document's ids one after the other, each closed by the end mark; `ends` where each ends."""

    ids: np.ndarray
    ends: np.ndarray

    @classmethod
    def build(cls, path: Path, documents: Callable[[], Iterable[str]], encode: Encode, end_id: int) -> IdFile:
        """Encode the documents into `path`, unless they lie there already: same text, same ids for its beginning.

        Raises DataError for a disk that is full, and what reading and encoding raise.
        """
        digest = _digest(documents, encode, end_id)
        about = path.with_suffix(".json")
        try:
            if json.loads(about.read_text(encoding="utf-8")).get("digest") == digest:
                return cls.open(path)
        except (OSError, ValueError, AttributeError):
            pass
        try:
            with new_file(path) as temporary:
                ends, largest = _write(temporary, documents, encode, end_id)
                kind = "uint16" if largest < 1 << 16 else "uint32"
                if kind == "uint16":
                    _narrow(temporary)
                # The description goes first and comes last: whenever this is cut off, none speaks of other ids.
                about.unlink(missing_ok=True)
            write_bytes(about, json.dumps({"digest": digest, "dtype": kind, "ends": ends}).encode())
        except CheckpointError as error:
            raise DataError(say.CACHE_FAILED, path=path, detail=error.values["detail"]) from error
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> IdFile:
        """What `build` wrote."""
        about = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        ends = np.array(about["ends"], dtype=np.int64)
        if not ends.size or not ends[-1]:
            return cls(np.zeros(0, dtype=about["dtype"]), ends)
        return cls(np.memmap(path, dtype=about["dtype"], mode="r", shape=(int(ends[-1]),)), ends)


def _digest(documents: Callable[[], Iterable[str]], encode: Encode, end_id: int) -> str:
    """Of the texts, and of what the tokenizer makes of their first characters."""
    digest = hashlib.blake2b(str(end_id).encode(), digest_size=16)
    left = _PROBE
    for text in documents():
        if left:
            digest.update(repr(encode(text[:left])).encode())
            left -= min(left, len(text))
        digest.update(f"{len(text)} ".encode() + text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _write(path: Path, documents: Callable[[], Iterable[str]], encode: Encode, end_id: int) -> tuple[list[int], int]:
    """All ids as 32-bit numbers; gives the documents' ends and the largest id."""
    ends: list[int] = []
    written = largest = 0
    with path.open("wb") as file:
        for text in documents():
            ids = np.array([*encode(text), end_id], dtype=np.uint32)
            ids.tofile(file)
            written += len(ids)
            largest = max(largest, int(ids.max()))
            ends.append(written)
    return ends, largest


def _narrow(path: Path) -> None:
    """Two bytes an id are enough: written over the four, which are read ahead of it."""
    count = path.stat().st_size // 4
    with path.open("r+b") as file:
        for start in range(0, count, _PIECE):
            file.seek(4 * start)
            piece = np.fromfile(file, dtype=np.uint32, count=min(_PIECE, count - start))
            file.seek(2 * start)
            piece.astype(np.uint16).tofile(file)
        file.truncate(2 * count)
