"""One process at a time works in a run folder; the kernel gives the lock back when that process dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from clearformer.errors import RunError
from clearformer.messages import runs as say


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file at `path`, which then names this process. Raises RunError, naming the one that holds it."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise RunError(say.CANNOT_LOCK, path=path, detail=error.strerror) from error
    held = _Held(descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        held.close()
        raise RunError(say.IN_USE, path=path.parent, pid=holder or "?") from None
    # A data worker is a fork: its copy of the descriptor would hold the lock on after our death.
    os.register_at_fork(after_in_child=held.close)
    try:
        # On a full disk the lock holds without a name; sweeping what a dead process left may need it.
        with suppress(OSError):
            os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
        yield
    finally:
        os.ftruncate(descriptor, 0)
        held.close()


class _Held:
    """A descriptor that is closed once, in this process and in each of its forks."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
