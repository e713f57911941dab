"""What was once measured on this machine, kept in a file: the same question is not measured twice."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import torch

from clearformer.machine.kept import keep
from clearformer.machine.speed import identity

FILE = "training-speed.json"
Figures = dict[str, float]


class Measurements:
    """Answers by question, of one machine and number of threads; a file of another, or a damaged one, holds none."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._owner = f"{identity()}, {torch.get_num_threads()} threads"
        self._known: dict[str, Figures] = {}
        try:
            kept = json.loads(self._path.read_text(encoding="utf-8"))
            if kept["machine"] == self._owner:
                self._known = {str(name): dict(figures) for name, figures in kept["figures"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            self._known = {}

    def ask(self, question: str, measure: Callable[[], Figures]) -> Figures:
        """The figures kept for a question, else those measured now."""
        if question not in self._known:
            self._known[question] = measure()
            self._save()
        return self._known[question]

    def _save(self) -> None:
        """Whole or not at all; where nothing can be kept, the next run measures again."""
        with suppress(OSError):
            keep(self._path, {"machine": self._owner, "figures": self._known})


def alternating(works: dict[str, Callable[[], object]], *, rounds: int = 5) -> Figures:
    """The shortest time of each, in seconds, taken in turn: whatever else the machine does meets all of them."""
    for work in works.values():
        work()
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            best[name] = min(best[name], time.perf_counter() - start)
    return best
