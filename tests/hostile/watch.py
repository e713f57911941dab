"""What a reader does beside reading: every file, process and socket that Python itself is asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_WATCHED = ("open", "os.", "subprocess.", "socket.", "ctypes.dlopen", "shutil.", "pty.", "pickle.")
# Looking is not opening.
_LOOKS = ("os.listdir", "os.scandir")


class Watch:
    """`seen` holds what was asked for while `armed`; files inside the armed folder are the reader's own."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self._folder: str | None = None
        sys.addaudithook(self._hook)

    @contextmanager
    def armed(self, folder: Path) -> Iterator[None]:
        self._folder = os.path.realpath(folder)
        try:
            yield
        finally:
            self._folder = None

    def _hook(self, event: str, about: tuple[Any, ...]) -> None:
        if self._folder is None or not event.startswith(_WATCHED) or event.startswith(_LOOKS):
            return
        folder, self._folder = self._folder, None  # what follows is ours
        own = event == "open" and _is_in(folder, about[0]) and not _writes(about)
        if not own:
            self.seen.append(f"{event} {about[:2]}"[:200])
        self._folder = folder


def _is_in(folder: str, file: Any) -> bool:
    """A number is a descriptor that was opened, and judged, before; a module that is imported late is the program's."""
    if isinstance(file, int):
        return True
    path = os.path.realpath(os.fspath(file))
    return path.startswith(folder + os.sep) or path.endswith((".py", ".pyc", ".so"))


def _writes(about: tuple[Any, ...]) -> bool:
    flags = about[2] if len(about) > 2 and isinstance(about[2], int) else 0
    return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))
