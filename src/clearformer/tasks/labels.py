"""The names of classes, kept beside a model as labels.json: a list in the order of its logits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from clearformer.errors import CheckpointError
from clearformer.messages import tasks as say
from clearformer.text.files import read_text

LABELS = "labels.json"
_MOST_BYTES = 10_000_000


def write_names(names: Sequence[str]) -> bytes:
    return json.dumps(list(names), ensure_ascii=False, indent=1).encode()


def read_names(folder: Path, count: int | None = None) -> tuple[str, ...]:
    """The names in a model's folder, `count` of them. Raises CheckpointError for anything else, TokenizerError for a
    file that cannot be read."""
    path = folder / LABELS
    try:
        names = json.loads(read_text(path, limit=_MOST_BYTES))
    except (ValueError, RecursionError):
        names = None
    right = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not right or (count is not None and len(names) != count):
        found = len(names) if isinstance(names, list) else type(names).__name__
        raise CheckpointError(say.BAD_LABELS, path=path, expected="–" if count is None else count, found=found)
    return tuple(names)
