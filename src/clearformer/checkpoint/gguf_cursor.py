"""A position in the bytes of a GGUF file that can only move over bytes that are there."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

import numpy as np
from gguf.constants import GGUFValueType

from clearformer.errors import CheckpointError
from clearformer.messages import Failure
from clearformer.messages import checkpoint as say

# The format allows arrays in arrays; no model is known to use them, and each costs microseconds.
MAX_NESTING = 4
MAX_INNER_ARRAYS = 10_000
# Gemma's 262,144 tokens with scores, types and merges stay below this; each value costs up to 60 bytes of memory.
MAX_VALUES = 2_000_000

_SCALARS = {
    GGUFValueType.UINT8: "<u1",
    GGUFValueType.INT8: "<i1",
    GGUFValueType.UINT16: "<u2",
    GGUFValueType.INT16: "<i2",
    GGUFValueType.UINT32: "<u4",
    GGUFValueType.INT32: "<i4",
    GGUFValueType.FLOAT32: "<f4",
    GGUFValueType.BOOL: "<u1",
    GGUFValueType.UINT64: "<u8",
    GGUFValueType.INT64: "<i8",
    GGUFValueType.FLOAT64: "<f8",
}
_LENGTH = struct.Struct("<Q")


class Cursor:
    """Reads forward through `data`; each method raises CheckpointError where the file ends too early."""

    def __init__(self, path: Path, data: mmap.mmap | bytes, size: int) -> None:
        self.path, self.data, self.size = path, data, size
        self.at = 0
        self._values_left, self._inner_arrays_left = MAX_VALUES, MAX_INNER_ARRAYS

    def error(self, failure: Failure, **values: object) -> CheckpointError:
        return CheckpointError(failure, path=self.path, **values)

    def expect(self, count: int) -> None:
        """At least `count` bytes are left."""
        if count > self.size - self.at:
            raise self.error(say.ENDS_EARLY, at=self.at, expected=count, found=self.size - self.at)

    def take(self, count: int) -> bytes:
        self.expect(count)
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, layout: str) -> int:
        """One integer in `struct`'s notation."""
        return int(struct.unpack(layout, self.take(struct.calcsize(layout)))[0])

    def name(self) -> str:
        """A key or a tensor's name."""
        return self._strings(1)[0]

    def value(self, key: str) -> object:
        """One metadata value: int, float, bool, str, or a list of them, nested at most `MAX_NESTING` deep."""
        kind = self.number("<I")
        return self._array(key, MAX_NESTING) if kind == GGUFValueType.ARRAY else self._values(key, kind, 1)[0]

    def _array(self, key: str, levels: int) -> list[object]:
        if levels == 0:
            raise self.error(say.TOO_DEEP, limit=MAX_NESTING)
        kind, count = self.number("<I"), self.number("<Q")
        if kind != GGUFValueType.ARRAY:
            return self._values(key, kind, count)
        self._spend(count, 12)
        self._inner_arrays_left -= count
        if self._inner_arrays_left < 0:
            raise self.error(say.TOO_MANY_VALUES, limit=MAX_INNER_ARRAYS, found=count)
        return [self._array(key, levels - 1) for _ in range(count)]

    def _values(self, key: str, kind: int, count: int) -> list[object]:
        if kind == GGUFValueType.STRING:
            self._spend(count, 8)
            return list(self._strings(count))
        if kind not in _SCALARS:
            raise self.error(say.VALUE_TYPE, key=key, found=kind)
        layout = np.dtype(_SCALARS[GGUFValueType(kind)])
        self._spend(count, layout.itemsize)
        values = np.frombuffer(self.take(count * layout.itemsize), layout)
        if kind != GGUFValueType.BOOL:
            return list(values.tolist())
        if count and values.max() > 1:
            raise self.error(say.VALUE_BOOL, key=key, found=values.max())
        return list(values.astype(bool).tolist())

    def _spend(self, count: int, smallest: int) -> None:
        """Account for `count` values of at least `smallest` bytes each, before any of them is made."""
        if count > self._values_left:
            raise self.error(say.TOO_MANY_VALUES, limit=MAX_VALUES, found=count)
        self.expect(count * smallest)
        self._values_left -= count

    def _strings(self, count: int) -> list[str]:
        """`count` strings, each a length and UTF-8. A vocabulary is long, so the loop keeps to local names."""
        found, data, at, end = [], self.data, self.at, self.size
        for _ in range(count):
            if end - at < 8:
                raise self.error(say.ENDS_EARLY, at=at, expected=8, found=end - at)
            (length,) = _LENGTH.unpack_from(data, at)
            at += 8
            if length > end - at:
                raise self.error(say.ENDS_EARLY, at=at, expected=length, found=end - at)
            try:
                found.append(data[at : at + length].decode("utf-8"))
            except UnicodeDecodeError:
                raise self.error(say.NOT_UTF8, at=at) from None
            at += length
        self.at = at
        return found
