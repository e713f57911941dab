"""A run folder, small states that tell their step, and processes to kill."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from clearformer.runs.folder import RunFolder
from clearformer.runs.state import State


def state_of(step: int, numbers: int = 20) -> State:
    """Every tensor's values say the step; all the types that a trainer keeps."""
    tensors = {
        "weights/w": torch.full((numbers, 2), float(step)),
        "optimizer/step": torch.tensor(step),
        "generator/cpu": torch.full((9,), step % 256, dtype=torch.uint8),
        "average/b": torch.full((3,), step, dtype=torch.bfloat16),
    }
    return State(step, tensors, {"position": {"epoch": step, "batch": 1}, "losses": [0.1 * step, 1e-300]})


def same(found: State | None, expected: State) -> bool:
    return (
        found is not None
        and (found.step, found.facts) == (expected.step, expected.facts)
        and found.tensors.keys() == expected.tensors.keys()
        and all(
            torch.equal(found.tensors[name], tensor) and found.tensors[name].dtype == tensor.dtype
            for name, tensor in expected.tensors.items()
        )
    )


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "run", "steps: 3\n")


@pytest.fixture
def child() -> Callable[..., subprocess.Popen[str]]:
    """A Python process with these lines, which has `run`, `state_of` and what they need; the caller ends it."""

    def start(folder: Path, lines: str) -> subprocess.Popen[str]:
        head = f"""
        import sys, time
        from pathlib import Path
        sys.path.insert(0, {str(Path(__file__).parents[1])!r})
        from runs.conftest import state_of
        from clearformer.runs.folder import RunFolder
        from clearformer.runs.state import newest_state, save_state
        run = RunFolder.open(Path({str(folder)!r}))
        """
        code = textwrap.dedent(head) + textwrap.dedent(lines)
        return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return start
