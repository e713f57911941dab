"""Batches one after the other, epoch after epoch, from any position, perhaps read ahead by worker processes."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from traceback import clear_frames
from typing import Any, Generic, TypeVar

import torch
from torch.utils.data import DataLoader, Dataset

from clearformer.data.batches import Batches, Position
from clearformer.errors import ClearformerError, TrainingError
from clearformer.messages import Failure
from clearformer.messages import data as say

B = TypeVar("B")
_LINUX = sys.platform == "linux"
_PR_SET_PDEATHSIG = 1


class Loader(Generic[B]):
    """Hands out batches without end. `position` is the batch that comes next, however far workers have read ahead."""

    def __init__(self, batches: Batches[B], *, workers: int = 0, position: Position | None = None) -> None:
        self._batches, self._workers = batches, workers
        self._position = position or Position()
        self._running: Iterator[B] | None = None

    @property
    def position(self) -> Position:
        return self._position

    def __iter__(self) -> Iterator[B]:
        return self

    def __next__(self) -> B:
        """The next batch. Raises TrainingError if a worker process has died, and what the batches raise."""
        if self._position.batch >= self._batches.count(self._position.epoch):
            self.close()
            self._position = Position(self._position.epoch + 1, 0)
        if self._running is None:
            self._running = self._open()
        batch = self._read()
        self._position = Position(self._position.epoch, self._position.batch + 1)
        return batch

    def close(self) -> None:
        """Let the workers go; the position stays."""
        self._running = None

    def _open(self) -> Iterator[B]:
        """The rest of the epoch."""
        batches, epoch, first = self._batches, self._position.epoch, self._position.batch
        if self._workers == 0:
            return (batches.batch(epoch, number) for number in range(first, batches.count(epoch)))
        # torch seeds workers from the global generator; drawing from it here would change dropout after a resume.
        apart = torch.Generator()
        # A fork has everything read already; a fresh process would import torch anew in every epoch.
        how: dict[str, Any] = (
            {"multiprocessing_context": "fork", "worker_init_fn": _EndWith(os.getpid())} if _LINUX else {}
        )
        rest = _Rest(batches, self._position)
        return iter(DataLoader(rest, batch_size=None, num_workers=self._workers, generator=apart, **how))

    def _read(self) -> B:
        # No variable holds torch's iterator, or a traceback would keep it for the garbage collector; its workers would
        # then be waited for, five seconds each.
        assert self._running is not None
        if self._workers == 0:
            return next(self._running)
        try:
            batch = next(self._running)
        except Exception as error:
            clear_frames(error.__traceback__)
            self.close()
            # What a dead worker raises depends on when it died.
            if isinstance(error, RuntimeError | OSError | EOFError):
                raise TrainingError(say.WORKER_DIED, detail=str(error).partition("\n")[0]) from error
            raise
        if isinstance(batch, _Failed):
            self.close()
            raise batch.kind(batch.failure, **batch.values)
        return batch


@dataclass(frozen=True)
class _Failed:
    """An error of ours on its way from a worker; torch would send its text alone."""

    kind: type[ClearformerError]
    failure: Failure
    values: dict[str, Any]


@dataclass(frozen=True)
class _EndWith:
    """Run in a worker: the kernel ends it when its parent dies, however early that is; torch looks only later."""

    parent: int

    def __call__(self, worker: int) -> None:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != self.parent:
            os._exit(1)


class _Rest(Dataset[Any]):
    """What is left of one epoch, for torch's loader: batch number → batch."""

    def __init__(self, batches: Batches[Any], start: Position) -> None:
        self.batches, self.start = batches, start

    def __len__(self) -> int:
        return self.batches.count(self.start.epoch) - self.start.batch

    def __getitem__(self, number: int) -> Any:
        try:
            return self.batches.batch(self.start.epoch, self.start.batch + number)
        except ClearformerError as error:
            # Plain values can always be sent.
            plain = {k: v if isinstance(v, int | float | str) else str(v) for k, v in error.values.items()}
            return _Failed(type(error), error.failure, plain)
