"""Where peers live that are not installed beside us: a folder of environments, each made by `make bench-setup`."""

from __future__ import annotations

import os
from pathlib import Path

from clearformer.errors import MachineError
from clearformer.messages import bench as messages

LLAMA_CPP = "llama-cpp"


def folder() -> Path:
    """CLEARFORMER_BENCH, else `.bench` where one stands."""
    return Path(os.environ.get("CLEARFORMER_BENCH") or ".bench").absolute()


def python_of(environment: str) -> Path:
    """An environment's Python. Raises MachineError, naming the command that makes it, where it is absent."""
    # Not resolved: through its link an environment's Python would be the one it was made from.
    python = folder() / environment / "bin" / "python"
    if not python.is_file():
        raise MachineError(messages.NO_ENVIRONMENT, path=folder() / environment)
    return python
