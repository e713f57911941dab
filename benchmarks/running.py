"""`clearformer` run as a user runs it, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

RECIPES = Path(__file__).resolve().parents[1] / "recipes"


def clearformer(*words: str) -> dict[str, Any]:
    """What the call answers to --json; its error ends the benchmark."""
    command = [str(Path(sys.executable).with_name("clearformer")), *words, "--json"]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    answer: dict[str, Any] = json.loads(ended.stdout or "{}")
    if ended.returncode:
        raise SystemExit(f"{' '.join(words)}: {answer.get('error', ended.returncode)}")
    return answer


def train(task: str, recipe: str, seed: int, run: Path, *rest: str) -> dict[str, Any]:
    """One seed of a recipe of ours into the folder `run`."""
    path = RECIPES / f"{recipe}.yaml"
    return clearformer("train", task, "-c", str(path), "--seed", str(seed), "--out", str(run), *rest)
