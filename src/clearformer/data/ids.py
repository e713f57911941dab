"""A text as ids on the disk, mapped into memory: as long as the disk allows, and shared by the workers."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from clearformer.checkpoint.atomic import write_bytes
from clearformer.errors import DataError
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
            ends, largest = _write(path, documents, encode, end_id)
            kind = "uint16" if largest < 1 << 16 else "uint32"
            if kind == "uint16":
                _narrow(path)
            contents = {"digest": digest, "dtype": kind, "ends": ends}
            write_bytes(about, json.dumps(contents).encode())
        except OSError as error:
            raise DataError(say.CACHE_FAILED, path=path, detail=error.strerror or error) from error
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
    """Of the texts, and of what the tokenizer makes of the first of them."""
    digest = hashlib.blake2b(digest_size=16)
    for number, text in enumerate(documents()):
        if number == 0:
            digest.update(repr([end_id, *encode(text[:_PROBE])]).encode())
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
    """Two bytes an id are enough: written beside, then in its place."""
    narrow = path.with_suffix(".narrow")
    with path.open("rb") as wide, narrow.open("wb") as file:
        while (piece := np.fromfile(wide, dtype=np.uint32, count=_PIECE)).size:
            piece.astype(np.uint16).tofile(file)
    os.replace(narrow, path)
