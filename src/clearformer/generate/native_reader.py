"""Reading through the compiled kernels: a sequence a row, each of its own length, so that padding is never read."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from clearformer.cache.static import cache_bytes
from clearformer.errors import GenerationError
from clearformer.machine import check_memory
from clearformer.messages import generate as messages
from clearformer.messages import layers as say_of_layers
from clearformer.native.engine import ROWS, Sequence
from clearformer.spec import main_stack
from clearformer.speed.native import NativeDecoder

_STREAMS = 16
"""Rows of different texts that one call takes: what weights are read once for."""


class NativeReader:
    """Reads each token once. `length_bound` is each row's declared length; `capacity` tokens fit in each."""

    def __init__(
        self, model: NativeDecoder, *, capacity: int, length_bound: Int[Tensor, " B"], chunk: int = 512
    ) -> None:
        room = model.positions.room
        self._model, self.capacity = model, capacity
        self._limit = capacity if room is None else min(capacity, room)
        self._chunk = min(chunk, ROWS)
        self._slots = 0
        self._check_memory(len(length_bound))
        self._sequences = [model.sequence(capacity, bound) for bound in length_bound.tolist()]

    @property
    def length(self) -> int:
        return self._slots

    def read(self, ids: Int[Tensor, "B T"], real: Bool[Tensor, "B T"] | None = None) -> Float[Tensor, "B V"]:
        rows = ids.tolist() if real is None else [row[kept].tolist() for row, kept in zip(ids, real, strict=True)]
        if (end := self._slots + ids.shape[1]) > self.capacity:
            raise GenerationError(say_of_layers.CACHE_FULL, capacity=self.capacity, wanted=end)
        self._require_positions(rows)
        logits = (
            self._step(rows) if ids.shape[1] == 1 else torch.stack([self._prompt(*each) for each in self._pairs(rows)])
        )
        self._slots = end
        return logits

    def keep(self, rows: Int[Tensor, " rows"]) -> None:
        """A row kept once goes on as it is; kept again, as a copy."""
        if len(rows) > len(self._sequences):
            self._check_memory(len(rows) - len(self._sequences))
        taken: set[int] = set()
        kept = []
        for row in rows.tolist():
            kept.append(self._sequences[row].copy() if row in taken else self._sequences[row])
            taken.add(row)
        self._sequences = kept

    def _check_memory(self, rows: int) -> None:
        number = torch.float32 if self._model.dtype == "float32" else torch.float16
        check_memory(cache_bytes(main_stack(self._model.spec), rows, self.capacity, number), messages.CACHE)

    def _pairs(self, rows: list[list[int]]) -> list[tuple[list[int], Sequence]]:
        return list(zip(rows, self._sequences, strict=True))

    def _step(self, rows: list[list[int]]) -> Float[Tensor, "B V"]:
        """One token of every text, some texts at a time."""
        parts = []
        for start in range(0, len(rows), _STREAMS):
            ids = [token for row in rows[start : start + _STREAMS] for token in row]
            sequences = self._sequences[start : start + _STREAMS]
            parts.append(torch.from_numpy(self._model.engine.run(ids, sequences, range(len(ids)))))
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def _prompt(self, ids: list[int], sequence: Sequence) -> Float[Tensor, " V"]:
        """Many tokens of one text, a chunk at a time; a failure leaves the sequence as it was."""
        began = sequence.length
        try:
            for start in range(0, len(ids), self._chunk):
                part = ids[start : start + self._chunk]
                last = start + len(part) == len(ids)
                logits = self._model.engine.run(part, [sequence] * len(part), [len(part) - 1] if last else [])
        except BaseException:
            sequence.cut(began)
            raise
        return torch.from_numpy(logits)[0]

    def _require_positions(self, rows: list[list[int]]) -> None:
        """A learnt table of positions ends before the cache does."""
        longest = max(sequence.length + len(row) for row, sequence in zip(rows, self._sequences, strict=True))
        if longest > self._limit:
            raise GenerationError(say_of_layers.PAST_LEARNED_POSITIONS, found=longest, length=self._limit)
