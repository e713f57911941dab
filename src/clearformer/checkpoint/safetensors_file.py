"""safetensors: the header checked here to the last byte, then the tensors memory-mapped by the safetensors library.

The format (github.com/huggingface/safetensors, README): eight bytes, a little-endian length N; N bytes of JSON
`{name: {dtype, shape, data_offsets: [begin, end]}, "__metadata__": {text: text}}`; then the data, without holes. The
library's own limit of 100 MB of header costs seconds and a gigabyte of memory, so the limit here is tighter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open

from clearformer.checkpoint.reading import foreign_parser, json_object, open_regular
from clearformer.checkpoint.tensor_file import MAX_TENSORS, possible_shape
from clearformer.errors import CheckpointError
from clearformer.messages import checkpoint as say

MAX_HEADER = 10_000_000
MAX_DIMENSIONS = 16

DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2,
    "C64": torch.complex64,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U64": torch.uint64,
    "U32": torch.uint32,
    "U16": torch.uint16,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}


@dataclass(frozen=True)
class Entry:
    """One tensor of the header; `begin` and `end` count bytes from the start of the data."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True)
class SafetensorsFile:
    """A checked safetensors file; see `TensorFile`."""

    path: Path
    metadata: Mapping[str, str]
    entries: Mapping[str, Entry]

    def names(self) -> tuple[str, ...]:
        return tuple(self.entries)

    def shape(self, name: str) -> tuple[int, ...]:
        return self._entry(name).shape

    def dtype(self, name: str) -> torch.dtype:
        return self._entry(name).dtype

    def tensor(self, name: str) -> torch.Tensor:
        """The tensor, its memory mapped from the file."""
        self._entry(name)
        with foreign_parser(self.path):
            tensor: torch.Tensor = self._library.get_tensor(name)
            return tensor

    def _entry(self, name: str) -> Entry:
        if name not in self.entries:
            raise CheckpointError(say.NO_TENSOR, path=self.path, name=name)
        return self.entries[name]

    @cached_property
    def _library(self) -> Any:
        with foreign_parser(self.path):
            return safe_open(str(self.path), framework="pt", device="cpu")


def open_safetensors(path: Path | str) -> SafetensorsFile:
    """Check the whole header and return the file; no tensor is read yet. Raises CheckpointError."""
    path = Path(path)
    header, data_bytes = _read_header(path)
    metadata = _metadata(header.pop("__metadata__", {}), path)
    if len(header) > MAX_TENSORS:
        raise CheckpointError(say.TOO_MANY_TENSORS, path=path, limit=MAX_TENSORS, found=len(header))
    entries = {name: _entry(name, value, path) for name, value in header.items()}
    _check_layout(entries, data_bytes, path)
    return SafetensorsFile(path, metadata, entries)


def _read_header(path: Path) -> tuple[dict[str, object], int]:
    file, size = open_regular(path)
    with file:
        if size < 8:
            raise CheckpointError(say.TOO_SHORT, path=path, expected=8, found=size)
        length = int.from_bytes(file.read(8), "little")
        limit = min(MAX_HEADER, size - 8)
        if length > limit:
            raise CheckpointError(say.HEADER_LENGTH, path=path, limit=limit, found=length)
        return json_object(file.read(length), path), size - 8 - length


def _metadata(value: object, path: Path) -> Mapping[str, str]:
    if not isinstance(value, dict):
        raise CheckpointError(say.BAD_METADATA, path=path, found=type(value).__name__)
    for text in value.values():
        if not isinstance(text, str):
            raise CheckpointError(say.BAD_METADATA, path=path, found=type(text).__name__)
    return value


def _entry(name: str, value: object, path: Path) -> Entry:
    if not isinstance(value, dict) or set(value) != {"dtype", "shape", "data_offsets"}:
        found = sorted(value) if isinstance(value, dict) else type(value).__name__
        raise CheckpointError(say.BAD_ENTRY, path=path, name=name, found=found)
    kind, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(kind, str) or kind not in DTYPES:
        raise CheckpointError(say.BAD_DTYPE, path=path, name=name, found=kind)
    if not _integers(shape) or len(shape) > MAX_DIMENSIONS or not possible_shape(tuple(shape)):
        raise CheckpointError(say.BAD_SHAPE, path=path, name=name, found=shape)
    if not _integers(offsets) or len(offsets) != 2:
        raise CheckpointError(say.BAD_ENTRY, path=path, name=name, found=offsets)
    dtype, (begin, end) = DTYPES[kind], offsets
    expected = math.prod(shape) * dtype.itemsize
    if begin < 0 or end - begin != expected:
        raise CheckpointError(say.BAD_RANGE, path=path, name=name, expected=expected, found=offsets)
    return Entry(dtype, tuple(shape), begin, end)


def _integers(value: object) -> bool:
    return isinstance(value, list) and all(type(item) is int for item in value)


def _check_layout(entries: Mapping[str, Entry], data_bytes: int, path: Path) -> None:
    """The ranges, in order, cover the data exactly once."""
    position = 0
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].begin, item[1].end)):
        if entry.begin != position:
            raise CheckpointError(say.NOT_CONTIGUOUS, path=path, name=name, expected=position, found=entry.begin)
        position = entry.end
    if position != data_bytes:
        raise CheckpointError(say.DATA_LENGTH, path=path, expected=position, found=data_bytes)
