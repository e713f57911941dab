"""Work of a compiled library that Ctrl-C can end: Python hears a signal only between two steps of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")
_LISTEN_S = 0.1


def interruptibly(work: Callable[[], Result]) -> Result:
    """What `work` gives or raises, done in a thread beside this one, which listens meanwhile.

    After a signal the thread is left to itself, as nothing can stop it; it does not hold up the end of the process.
    """
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_LISTEN_S)
    if errors:
        raise errors[0]
    return results[0]
