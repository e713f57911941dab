"""Faulty and healthy models, losses, collators, caches, samplers, loops and checkpoints, each a small function."""

from __future__ import annotations

from doctor.corpus import (
    attention_faults,
    padding_faults,
    position_faults,
    sight_faults,
)
from doctor.corpus.case import CASES, Case

__all__ = ["CASES", "Case", "attention_faults", "padding_faults", "position_faults", "sight_faults"]
