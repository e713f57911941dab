"""The names of classes, kept beside a model as labels.json: a list in the order of its logits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from clearformer.checkpoint.folder import CONFIG
from clearformer.errors import CheckpointError
from clearformer.messages import tasks as say
from clearformer.text.files import read_json, read_text

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


def unnamed(count: int) -> tuple[str, ...]:
    """What stands for names that nobody gave, as transformers has it."""
    return tuple(f"LABEL_{number}" for number in range(count))


def names_in(folder: Path, count: int) -> tuple[str, ...]:
    """The names of a model's classes: those of labels.json, else of `id2label` in its config, else LABEL_0 and so on.

    Raises CheckpointError for a labels.json that is not the model's.
    """
    if (folder / LABELS).is_file():
        return read_names(folder, count)
    config = read_json(folder / CONFIG, limit=_MOST_BYTES) if (folder / CONFIG).is_file() else {}
    named = config.get("id2label")
    named = named if isinstance(named, dict) else {}
    return tuple(str(named.get(str(number), label)) for number, label in enumerate(unnamed(count)))
