"""What the user's code leaves behind: processes that left its session and would go on after it.

Each process of an examination carries a mark in its environment, which what it starts inherits wherever it goes.
"""

from __future__ import annotations

import os
import secrets
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

NAME = "CLEARFORMER_EXAMINATION"
_PROC = Path("/proc")
_ROUNDS, _NAP = 20, 0.02
"""A process may start another while it is ended: so often is looked again."""


def mark() -> dict[str, str]:
    """A variable of the environment that no other examination has."""
    return {NAME: secrets.token_hex(16)}


def end_marked(marked: dict[str, str], session: int) -> dict[int, str]:
    """Ends every process that carries the mark. Those outside `session`: number → name. Where there is no /proc, none
    is found."""
    sign = f"{NAME}={marked[NAME]}".encode()
    ended: dict[int, str] = {}
    for _ in range(_ROUNDS):
        alive = dict(_carrying(sign))
        if not alive:
            break
        for process, name in alive.items():
            with suppress(OSError):
                if os.getsid(process) != session:
                    ended[process] = name
                os.kill(process, signal.SIGKILL)
        time.sleep(_NAP)
    return ended


def _carrying(sign: bytes) -> Iterator[tuple[int, str]]:
    """Those of us that are alive: one that has ended and is not yet taken away has no environment."""
    for folder in _PROC.iterdir() if _PROC.is_dir() else ():
        with suppress(OSError, ValueError):
            if sign in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name), (folder / "comm").read_text("utf-8", "replace").strip()
