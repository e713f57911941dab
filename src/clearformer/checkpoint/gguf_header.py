"""The GGUF header, parsed with every count held against the bytes that are left before anything is allocated.

The format (github.com/ggml-org/ggml, docs/gguf.md): magic, version, tensor and key counts; the metadata, each
value a type and its bytes; for each tensor a name, its sizes (fastest first), a GGML type and an offset; padding to the
alignment; the data. The gguf package's own reader trusts the counts and can be kept busy without end by fifty bytes.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

from clearformer.checkpoint.gguf_cursor import Cursor
from clearformer.checkpoint.reading import open_regular
from clearformer.checkpoint.tensor_file import MAX_TENSORS, possible_shape
from clearformer.errors import CheckpointError
from clearformer.messages import checkpoint as say

MAX_KEYS = 100_000
MAX_DIMENSIONS = 4
DEFAULT_ALIGNMENT = 32

# Smallest key: a length, a type, one byte. Smallest tensor: a length, a count of sizes, a type, an offset.
_SMALLEST_KEY = 8 + 4 + 1
_SMALLEST_TENSOR = 8 + 4 + 4 + 8


@dataclass(frozen=True)
class GGUFTensor:
    """Where a tensor lies: `shape` slowest first, as PyTorch has it; `start` and `size` in bytes of the file."""

    shape: tuple[int, ...]
    kind: GGMLQuantizationType
    start: int
    size: int


@dataclass(frozen=True)
class GGUFHeader:
    """A checked header: every tensor lies inside the file, and no two overlap."""

    version: int
    metadata: Mapping[str, object]
    tensors: Mapping[str, GGUFTensor]


def read_header(path: Path) -> GGUFHeader:
    """Parse and check the header of a little-endian GGUF file, version 2 or 3. Raises CheckpointError."""
    file, size = open_regular(path)
    with file:
        if size < 24:
            raise CheckpointError(say.TOO_SHORT, path=path, expected=24, found=size)
        with mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as data:
            return _parse(Cursor(path, data, size))


def _parse(cursor: Cursor) -> GGUFHeader:
    version = _version(cursor)
    tensor_count, key_count = cursor.number("<Q"), cursor.number("<Q")
    if tensor_count > MAX_TENSORS:
        raise cursor.error(say.TOO_MANY_TENSORS, limit=MAX_TENSORS, found=tensor_count)
    if key_count > MAX_KEYS:
        raise cursor.error(say.TOO_MANY_VALUES, limit=MAX_KEYS, found=key_count)
    cursor.expect(tensor_count * _SMALLEST_TENSOR + key_count * _SMALLEST_KEY)

    metadata: dict[str, object] = {}
    for _ in range(key_count):
        key = cursor.name()
        if key in metadata:
            raise cursor.error(say.DUPLICATE_KEY, key=key)
        metadata[key] = cursor.value(key)
    _refuse_parts(metadata, cursor)

    alignment = _alignment(metadata, cursor)
    described: dict[str, GGUFTensor] = {}
    for _ in range(tensor_count):
        name = cursor.name()
        if name in described:
            raise cursor.error(say.DUPLICATE_KEY, key=name)
        described[name] = _tensor(name, cursor, alignment)
    data_start = -(-cursor.at // alignment) * alignment
    tensors = {
        name: GGUFTensor(tensor.shape, tensor.kind, data_start + tensor.start, tensor.size)
        for name, tensor in described.items()
    }
    _check_layout(tensors, cursor)
    return GGUFHeader(version, metadata, tensors)


def _version(cursor: Cursor) -> int:
    magic = cursor.take(4)
    if magic != b"GGUF":
        raise cursor.error(say.NOT_GGUF, found=magic)
    raw = cursor.take(4)
    version = int.from_bytes(raw, "little")
    if version in (2, 3):
        return version
    if int.from_bytes(raw, "big") in (1, 2, 3):
        raise cursor.error(say.BIG_ENDIAN)
    raise cursor.error(say.GGUF_VERSION, found=version)


def _alignment(metadata: Mapping[str, object], cursor: Cursor) -> int:
    alignment = metadata.get("general.alignment", DEFAULT_ALIGNMENT)
    if type(alignment) is not int or alignment <= 0 or alignment & (alignment - 1):
        raise cursor.error(say.ALIGNMENT, found=alignment)
    return alignment


def _refuse_parts(metadata: Mapping[str, object], cursor: Cursor) -> None:
    parts = metadata.get("split.count", 0)
    if isinstance(parts, int) and parts > 1:
        raise cursor.error(say.SPLIT_GGUF, found=parts)


def _tensor(name: str, cursor: Cursor, alignment: int) -> GGUFTensor:
    """One tensor's description, `start` still counted from the beginning of the data."""
    dimensions = cursor.number("<I")
    if dimensions > MAX_DIMENSIONS:
        raise cursor.error(say.BAD_SHAPE, name=name, found=f"{dimensions}-D")
    shape = tuple(reversed([cursor.number("<Q") for _ in range(dimensions)]))
    number, start = cursor.number("<I"), cursor.number("<Q")
    try:
        kind = GGMLQuantizationType(number)
        block_numbers, block_bytes = GGML_QUANT_SIZES[kind]
    except (ValueError, KeyError):
        raise cursor.error(say.TENSOR_TYPE, name=name, found=number) from None
    if not possible_shape(shape) or (shape[-1] if shape else 1) % block_numbers:
        raise cursor.error(say.BAD_SHAPE, name=name, found=f"{shape} {kind.name}")
    if start % alignment:
        raise cursor.error(say.MISALIGNED, name=name, expected=alignment, found=start)
    return GGUFTensor(shape, kind, start, math.prod(shape) // block_numbers * block_bytes)


def _check_layout(tensors: Mapping[str, GGUFTensor], cursor: Cursor) -> None:
    end, before = 0, ""
    for name, tensor in sorted(tensors.items(), key=lambda item: (item[1].start, item[1].size)):
        if tensor.size and tensor.start < end:
            raise cursor.error(say.OVERLAP, name=before, other=name)
        if tensor.start + tensor.size > cursor.size:
            raise cursor.error(say.OUT_OF_FILE, name=name, expected=tensor.start + tensor.size, found=cursor.size)
        end, before = max(end, tensor.start + tensor.size), name
