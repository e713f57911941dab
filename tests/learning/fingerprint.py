"""What two runs of one recipe must share of their metrics, to the bit."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from clearformer.train.metrics import read_metrics

TIMES = frozenset({"seconds", "units_per_s", "mfu", "memory"})
"""Fields that differ from run to run; all others are a function of the recipe."""


def fingerprint(path: Path) -> str:
    """SHA-256 of all that the recipe decides: the records without times."""
    digest = hashlib.sha256()
    for record in read_metrics(path):
        fixed = {name: value for name, value in record.items() if name not in TIMES}
        digest.update(json.dumps(fixed, sort_keys=True).encode() + b"\n")
    return digest.hexdigest()
