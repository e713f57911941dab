"""Signals that ask a run to end: the handler sets a flag, and the loop ends where its state is whole."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Literal

Reason = Literal["SIGINT", "SIGTERM", "SIGUSR1"]
_HEARD: tuple[Reason, ...] = ("SIGINT", "SIGTERM", "SIGUSR1")


class Asked:
    """The first signal that came, if any; later ones change nothing, so a second one cannot break a save."""

    def __init__(self) -> None:
        self.reason: Reason | None = None

    def hear(self, number: int, frame: FrameType | None) -> None:
        self.reason = self.reason or next(name for name in _HEARD if getattr(signal, name, None) == number)


class EndAskedFor(Exception):  # noqa: N818 - a request, no error
    """Leaves an evaluation that a signal interrupts; it is made again after resuming."""


@contextmanager
def listening() -> Iterator[Asked]:
    """Hear the signals in the body. Only the main thread can; elsewhere nothing is heard.

    What this process was started to ignore stays ignored, as a shell does for SIGINT of a program behind an `&`.
    """
    asked = Asked()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    numbers = [getattr(signal, name) for name in _HEARD if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    heard = [number for number in numbers if before[number] is not signal.SIG_IGN]
    for number in heard:
        signal.signal(number, asked.hear)
    try:
        yield asked
    finally:
        for number in heard:
            signal.signal(number, before[number])


@contextmanager
def unheard() -> Iterator[None]:
    """Signals wait until the body ends, and processes started in it never hear them.

    A signal to the whole process group would else kill the workers that read data, and with them the update.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [getattr(signal, name) for name in _HEARD])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
