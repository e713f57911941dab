"""A program run by the kernels: sequences that grow, and the logits of what comes next."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence as Items
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clearformer.errors import GenerationError
from clearformer.messages import layers as say_of_layers
from clearformer.native import structures
from clearformer.native.library import check, found, handle
from clearformer.native.matrix import Matrix

ROWS = 128
"""Rows that one call takes at most: enough that reading a long prompt is bound by arithmetic."""


@dataclass(frozen=True)
class Tables:
    """What positions mean in one sequence, for `capacity` of them: float32, the layouts of `cf_tables`."""

    inputs: np.ndarray | None = None
    rotary: tuple[np.ndarray, ...] = ()
    bias: tuple[np.ndarray, ...] = ()


@dataclass
class Program:
    """A model as the kernels read it: what its pointers point to, and which weights lie in which matrix."""

    description: structures.Program
    kept: list[Any] = field(default_factory=list)
    packed: list[tuple[tuple[str, ...], Matrix]] = field(default_factory=list)

    @property
    def weights(self) -> int:
        """Bytes of the packed weights."""
        return sum(matrix.bytes for _, matrix in self.packed)

    @property
    def bytes_a_number(self) -> float:
        """Of the packed weights, with their scales."""
        return self.weights / sum(matrix.rows * matrix.columns for _, matrix in self.packed)


class Engine:
    """Threads and room for one program. Calls from several Python threads wait for each other."""

    def __init__(self, program: Program, *, threads: int, path: str | None = None) -> None:
        self.program = program
        self.path = path or found().paths[0]
        made = handle().cf_engine_new(ctypes.byref(program.description), threads, self.path.encode())
        check(made)
        self.pointer: int = made
        weakref.finalize(self, handle().cf_engine_free, made)
        self.vocabulary = int(program.description.vocabulary)

    @property
    def threads(self) -> int:
        """How many compute: what was asked for, or what the system granted."""
        return int(handle().cf_engine_threads(self.pointer))

    def run(self, ids: Items[int], sequences: Items[Sequence], wanted: Items[int]) -> np.ndarray:
        """Append token i to sequence i, at most `ROWS` of them, one sequence's side by side; the logits of the wanted
        rows, len(wanted) × V. Raises GenerationError for a sequence that is full; nothing is appended then."""
        for sequence in set(sequences):
            end = sequence.length + sum(each is sequence for each in sequences)
            if end > sequence.capacity:
                raise GenerationError(say_of_layers.CACHE_FULL, capacity=sequence.capacity, wanted=end)
        padded = -(-self.vocabulary // 16) * 16
        logits = np.empty((len(wanted), padded), np.float32)
        numbers, rows = np.asarray(ids, np.int32), np.asarray(wanted, np.int32)
        pointers = (ctypes.c_void_p * len(sequences))(*[sequence.pointer for sequence in sequences])
        done = handle().cf_run(
            self.pointer, len(ids), numbers.ctypes.data, pointers, len(wanted), rows.ctypes.data, logits.ctypes.data
        )
        check(done)
        return logits[:, : self.vocabulary]


class Sequence:
    """Keys and values of one text, for `capacity` tokens."""

    def __init__(self, engine: Engine, capacity: int, tables: Tables) -> None:
        self.capacity, self._engine, self._tables = capacity, engine, tables
        self._room = -(-capacity // 16) * 16
        rotary, bias = _pointers(tables.rotary), _pointers(tables.bias)
        inputs = None if tables.inputs is None else tables.inputs.ctypes.data
        given = structures.Tables(inputs, rotary, bias)
        made = handle().cf_sequence_new(engine.pointer, self._room, ctypes.byref(given))
        check(made)
        self.pointer: int = made
        weakref.finalize(self, handle().cf_sequence_free, made)

    @property
    def length(self) -> int:
        return int(handle().cf_sequence_length(self.pointer))

    def cut(self, length: int) -> None:
        """Forget all but the first `length` tokens."""
        check(handle().cf_sequence_cut(self.pointer, length))

    def copy(self) -> Sequence:
        """Another sequence that holds the same."""
        other = Sequence(self._engine, self.capacity, self._tables)
        check(handle().cf_sequence_copy(other.pointer, self.pointer))
        return other


def rounded_capacity(capacity: int) -> int:
    """Positions for which tables are made: keys stand in blocks of 16."""
    return -(-capacity // 16) * 16


def _pointers(arrays: tuple[np.ndarray, ...]) -> Any:
    return (ctypes.c_void_p * max(len(arrays), 1))(*[array.ctypes.data for array in arrays])
