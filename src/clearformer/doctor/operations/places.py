"""Where in the user's code an operation is written: the module's path and the source line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn

FOREIGN = (str(Path(torch.__file__).parent), str(Path(__file__).parent))
"""Frames of torch and of the tracker itself are not where the user wrote anything."""


class Places:
    """The path of the module that is running, kept by hooks for as long as `followed`."""

    def __init__(self) -> None:
        self.stack: list[str] = []

    @contextmanager
    def followed(self, module: nn.Module) -> Iterator[None]:
        handles = []
        for name, each in module.named_modules():

            def enter(_: nn.Module, __: Any, name: str = name) -> None:
                self.stack.append(name)

            def leave(_: nn.Module, __: Any, ___: Any) -> None:
                if self.stack:
                    self.stack.pop()

            handles.append(each.register_forward_pre_hook(enter))
            handles.append(each.register_forward_hook(leave, always_call=True))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def here(self) -> str | None:
        """`layers.0.attention (my_model.py:41)`, as much of it as is known."""
        path, line = (self.stack[-1] if self.stack else ""), source_line()
        if path and line:
            return f"{path} ({line})"
        return path or line


def source_line() -> str | None:
    """The innermost line that is neither torch's nor ours: `my_model.py:41`."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(FOREIGN) and "/doctor/checks/" not in file and "/doctor/calling/" not in file:
            return f"{Path(file).name}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return None
