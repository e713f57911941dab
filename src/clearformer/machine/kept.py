"""Figures of this machine, kept as JSON in a file that appears whole or not at all.

Nothing waits for the disk: what a power loss takes is measured again.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path


def keep(path: Path, figures: object) -> None:
    """Put them at `path`, whose folder is made where it is missing. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=path.parent) as aside:
        partial = Path(aside) / path.name
        partial.write_text(json.dumps(figures), encoding="utf-8")
        partial.replace(path)
