"""Writing a GGUF file, version 3: the header whole, then one tensor after another, never two in memory.

The format is described in `gguf_header.py`, which reads it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from gguf.constants import GGUFValueType as Value
from torch import Tensor

from clearformer.checkpoint.atomic import new_file
from clearformer.checkpoint.gguf_blocks import LAYOUTS, Kind, encode
from clearformer.checkpoint.gguf_header import DEFAULT_ALIGNMENT
from clearformer.errors import CheckpointError
from clearformer.messages import checkpoint as say

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Entry:
    """A tensor that is to be written, `shape` slowest first."""

    name: str
    shape: tuple[int, ...]
    kind: Kind

    @property
    def size(self) -> int:
        return LAYOUTS[self.kind].bytes_of(self.shape)


def save_gguf(
    path: Path,
    metadata: Mapping[str, object],
    entries: Sequence[Entry],
    contents: Iterable[tuple[str, Tensor]],
    progress: Progress = lambda done, total: None,
) -> None:
    """Write one file, whole or not at all; `contents` gives the entries' tensors in their order, each when it is due.

    Of metadata, ints become uint32, floats float32, lists of them int32 and float32. `progress` is told bytes done and
    in all. Raises CheckpointError where something stands at `path`, or a weight is too large for its kind.
    """
    if path.exists():
        raise CheckpointError(say.FILE_EXISTS, path=path)
    total = sum(entry.size for entry in entries)
    with new_file(path) as temporary, temporary.open("wb") as file:
        file.write(_header(metadata, entries))
        done = 0
        for entry, (name, tensor) in zip(entries, contents, strict=True):
            assert (name, tuple(tensor.shape)) == (entry.name, entry.shape), (name, entry)
            _pad(file)
            for piece in encode(name, tensor, entry.kind):
                file.write(piece)
                done += len(piece)
                progress(done, total)
        _pad(file)


def _header(metadata: Mapping[str, object], entries: Sequence[Entry]) -> bytes:
    parts = [b"GGUF", struct.pack("<IQQ", 3, len(entries), len(metadata))]
    for key, value in metadata.items():
        parts += [_text(key), _typed(value)]
    start = 0
    for entry in entries:
        sizes = entry.shape[::-1]
        number = LAYOUTS[entry.kind].number
        parts.append(_text(entry.name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, number, start))
        start += _aligned(entry.size)
    return b"".join(parts)


def _typed(value: object) -> bytes:
    """A value's type and bytes."""
    match value:
        case bool():
            return struct.pack("<I?", Value.BOOL, value)
        case int():
            return struct.pack("<II", Value.UINT32, value)
        case float():
            return struct.pack("<I", Value.FLOAT32) + np.array(value, "<f4").tobytes()
        case str():
            return struct.pack("<I", Value.STRING) + _text(value)
        case list() | tuple():
            return struct.pack("<I", Value.ARRAY) + _array(value)
    raise TypeError(f"GGUF has no type for {type(value).__name__}")


def _array(values: Sequence[object]) -> bytes:
    if all(isinstance(value, str) for value in values):
        return struct.pack("<IQ", Value.STRING, len(values)) + b"".join(map(_text, map(str, values)))
    kind, layout = Value.INT32, "<i4"
    if all(isinstance(value, bool) for value in values):
        kind, layout = Value.BOOL, "<u1"
    elif any(isinstance(value, float) for value in values):
        kind, layout = Value.FLOAT32, "<f4"
    return struct.pack("<IQ", kind, len(values)) + np.array(values).astype(layout).tobytes()


def _text(value: str) -> bytes:
    content = value.encode("utf-8")
    return struct.pack("<Q", len(content)) + content


def _aligned(size: int) -> int:
    return -(-size // DEFAULT_ALIGNMENT) * DEFAULT_ALIGNMENT


def _pad(file: BinaryIO) -> None:
    at = file.tell()
    file.write(b"\0" * (_aligned(at) - at))
