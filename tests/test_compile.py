"""One decode step compiles whole, once for all lengths, and gives what eager decoding gives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

CHILD = Path(__file__).parent / "compiling" / "decode_step.py"
NAMES = ("llama", "gpt2", "experts", "latent", "encoder-decoder")


def run_child(device: str, backend: str, *names: str) -> dict[str, dict[str, float]]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(CHILD), device, backend, *names]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def outcome() -> dict[str, dict[str, float]]:
    return run_child("cpu", "aot_eager", *NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_decode_step_compiles_without_breaks_or_further_compiling(name: str, outcome: dict) -> None:
    found = outcome[name]
    assert "error" not in found, found["error"]
    assert found["difference"] <= 1e-5
    assert found["breaks"] == 0
    assert found["graphs"] <= 2
    assert found["length"] == 14


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("name", NAMES)
def test_the_decode_step_compiles_on_cuda(name: str) -> None:
    found = run_child("cuda", "inductor", name)[name]
    assert "error" not in found, found["error"]
    assert found["difference"] <= 1e-3
    assert found["graphs"] <= 2
