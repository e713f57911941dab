"""Faulty and healthy models, losses, collators, caches, samplers, loops and checkpoints, each a small function."""

from __future__ import annotations

import importlib

from doctor.corpus.case import CASES, Case

FAULTY = ("attention", "sight", "padding", "position", "cache", "parameter", "loss", "loop", "resume", "generation",
          "forecast", "file", "other_hands", "mixing", "annotated", "variant", "number")  # fmt: skip
HEALTHY = ("hand_written", "families", "own", "parts", "other_hands")
for _module in (*(f"{each}_faults" for each in FAULTY), *(f"healthy_{each}" for each in HEALTHY)):
    importlib.import_module(f"doctor.corpus.{_module}")

__all__ = ["CASES", "Case"]
