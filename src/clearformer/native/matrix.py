"""Weights packed for the kernels, in the layouts that `cpp/matrix.h` draws."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Literal

import numpy as np

from clearformer.native import structures
from clearformer.native.library import check, handle

Format = Literal["float32", "bfloat16", "int8", "int4"]
"""What a model's weights are kept in."""
Packing = Literal[Format, "int8_fine"]
"""`int8_fine` is int8 whose products take activations in two bytes instead of one."""
Source = Literal["F32", "BF16", "F16", "Q4_0", "Q4_1", "Q8_0"]


@dataclass(frozen=True)
class Rows:
    """Rows of a weight as they are stored: GGML's name of their type, and their bytes, one row after the other.

    `decoded` names the quantised type that floats were decoded from, where they were."""

    source: Source
    content: np.ndarray
    rows: int
    columns: int
    decoded: str | None = None


@dataclass(frozen=True)
class Place:
    """Where rows go: row i to first + i // run · stride + i % run. Without a run they stand together."""

    first: int = 0
    run: int | None = None
    stride: int = 0


class Matrix:
    """Outputs × inputs in one of the formats, zeros until they are filled. Raises MachineError without memory."""

    def __init__(self, format: Packing, rows: int, columns: int) -> None:
        self.format, self.rows, self.columns = format, rows, columns
        made = handle().cf_matrix_new(structures.FORMATS.index(format), rows, columns)
        check(made)
        self.pointer: int = made
        weakref.finalize(self, handle().cf_matrix_free, made)

    @property
    def bytes(self) -> int:
        """Memory that the packed weights take."""
        return int(handle().cf_matrix_bytes(self.pointer))

    def fill(self, rows: Rows, place: Place = Place(), *, threads: int = 1) -> None:
        """Pack rows, of many each thread a part. GGUF's blocks keep their numbers where the format can say them: Q4_0
        and Q4_1 as int4, Q4_0 and Q8_0 as int8."""
        assert rows.columns == self.columns
        assert rows.content.flags.c_contiguous
        kind = structures.SOURCES.index(rows.source)
        run = place.run or rows.rows
        check(
            handle().cf_matrix_fill(
                self.pointer, kind, rows.content.ctypes.data, rows.rows, place.first, run, place.stride, threads
            )
        )

    def numbers(self) -> np.ndarray:
        """The weights that products compute with, rows × columns of float32."""
        out = np.empty((self.rows, self.columns), np.float32)
        for row in range(self.rows):
            check(handle().cf_matrix_row(self.pointer, row, out[row].ctypes.data))
        return out
