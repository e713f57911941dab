"""Compiled training gives eager training's gradients, and all blocks share what the first two compiled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CHILD = Path(__file__).parents[1] / "compiling" / "training_step.py"


@pytest.fixture(scope="module")
def outcome() -> dict[str, dict[str, float]]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(CHILD), "aot_eager"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("kernel", ["plain", "sdpa"])
@pytest.mark.parametrize("documents", [False, True])
def test_compiled_training_is_eager_training(kernel: str, documents: bool, outcome: dict) -> None:
    found = outcome[f"{kernel} {documents}"]
    assert found["gap"] <= 1e-4
    # The first block makes the masks and rotations that the others find; evaluation compiles nothing.
    assert found["graphs"] == 2
    assert found["weights"] == 5 * 9 + 2
