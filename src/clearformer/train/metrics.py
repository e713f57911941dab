"""metrics.jsonl: one JSON object a step and one an evaluation, cut back on resuming to what the state knew."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class MetricsFile:
    """Appends records behind the first `length` bytes; `lost` is how many of those the file does not hold."""

    def __init__(self, path: Path, length: int = 0) -> None:
        self._file = path.open("r+b" if path.exists() else "w+b")
        kept = self._file.read(length)
        # A file that was shortened ends within a record, which nothing could be put behind.
        kept = kept if len(kept) == length else kept[: kept.rfind(b"\n") + 1]
        self.lost = length - len(kept)
        self._file.seek(len(kept))
        self._file.truncate()

    def write(self, record: Mapping[str, object]) -> None:
        """One line; numbers that JSON has no word for are null."""
        line = json.dumps({name: _sayable(value) for name, value in record.items()}, allow_nan=False)
        self._file.write(line.encode() + b"\n")

    def sync(self) -> int:
        """Put all records on the disk; gives the length in bytes."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        self._file.close()


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The records, without a last line that a killed run left unfinished."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def _sayable(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _sayable(inner) for name, inner in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
