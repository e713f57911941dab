"""Thousands of damaged files of each kind: one clear error or success, in time and memory, touching nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

KINDS = ("safetensors", "gguf", "config", "tokenizer")
CI, LONG = 5_000, 100_000


def run(kind: str, count: int, seed: int, folder: Path) -> dict[str, int]:
    """How many files of `kind` ended how, read in a process of their own; fails at the first beyond the law."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    environment |= {"RUST_BACKTRACE": "0", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}
    script = Path(__file__).with_name("trial.py")
    command = [sys.executable, str(script), kind, str(count), str(seed), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=5000)
    last = done.stdout.strip().splitlines()[-1:] or [""]
    # A crash leaves no line, and the file that it died of in the folder.
    assert done.returncode == 0, f"{last[0]}\n{done.stderr[-2000:]}\n{sorted(folder.iterdir())}"
    return json.loads(last[0])["ends"]


def check(ends: dict[str, int], count: int) -> None:
    """Damage of every kind was done: some files were still whole, most were refused."""
    assert sum(ends.values()) == count
    assert ends["read"] >= count // 100
    assert count - ends["read"] >= count // 2


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files(kind, tmp_path):
    check(run(kind, CI, 1, tmp_path), CI)


@pytest.mark.long
@pytest.mark.timeout(5400)
@pytest.mark.parametrize("kind", KINDS)
def test_many_more_damaged_files(kind, tmp_path):
    check(run(kind, LONG, 2, tmp_path), LONG)
