"""How a training went: the losses, rates and norms that its metrics file holds, whoever wrote it.

Ours (metrics.jsonl), Hugging Face's (trainer_state.json), Lightning's (metrics.csv), and lines of JSON by hand.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from clearformer.checkpoint.folder import MAX_CONFIG
from clearformer.checkpoint.reading import json_object, read_bounded, read_json
from clearformer.errors import CheckpointError

LARGEST = 256 << 20
_MOST_RECORDS = 2_000_000
_FILES = ("metrics.jsonl", "trainer_state.json", "metrics.csv", "log.jsonl", "train_log.jsonl")
_STEP = ("step", "global_step", "iter", "iteration", "_step")
_LOSS = ("loss", "train_loss", "train/loss", "training_loss", "loss/train")
_HELD_OUT = ("eval_loss", "val_loss", "valid_loss", "validation_loss", "eval/loss", "val/loss", "loss/val", "test_loss")
_RATE = ("lr", "learning_rate", "train/learning_rate", "lr/group0")
_NORM = ("grad_norm", "gradient_norm", "train/grad_norm", "grad/norm")


@dataclass(frozen=True)
class Update:
    """One update of the weights; None for what was not written down, NaN for a number that was none."""

    step: int
    loss: float | None = None
    lr: float | None = None
    norm: float | None = None


@dataclass
class Course:
    """Updates and evaluations in the order of their steps."""

    updates: list[Update] = field(default_factory=list)
    held_out: list[tuple[int, float]] = field(default_factory=list)
    """(step, loss on data that is not trained on)."""
    choices: int | None = None
    """What the loss chooses among: tokens or classes; ln of it is the loss of knowing nothing."""

    def add(self, record: Mapping[str, object]) -> None:
        """A record of whichever of the known forms."""
        step = _number(record, _STEP)
        at = int(step) if step is not None and math.isfinite(step) else len(self.updates) + 1
        evaluation = record.get("evaluation")
        held_out = _number(evaluation, ("loss",)) if isinstance(evaluation, Mapping) else _number(record, _HELD_OUT)
        if held_out is not None:
            self.held_out.append((at, held_out))
        loss, lr, norm = (_number(record, names) for names in (_LOSS, _RATE, _NORM))
        # Our own file has null for a loss that was not finite.
        if loss is None and "loss" in record and record["loss"] is None and "lr" in record:
            loss = math.nan
        if (loss, lr, norm) != (None, None, None) and not isinstance(evaluation, Mapping):
            self.updates.append(Update(at, loss, lr, norm))

    def losses(self) -> tuple[list[int], list[float]]:
        """Steps and losses, those that are finite."""
        pairs = [(each.step, each.loss) for each in self.updates if each.loss is not None and math.isfinite(each.loss)]
        return [step for step, _ in pairs], [loss for _, loss in pairs]


def metrics_file(folder: Path) -> Path | None:
    """The file that holds a run's metrics: in the folder, or in its newest checkpoint."""
    for name in _FILES:
        if (folder / name).is_file():
            return folder / name
    states = sorted(folder.glob("checkpoint-*/trainer_state.json"), key=lambda path: path.parent.name)
    states.sort(key=lambda path: int(tail) if (tail := path.parent.name.rpartition("-")[2]).isdigit() else -1)
    return states[-1] if states else None


def read_course(folder: Path) -> Course | None:
    """None where the folder holds no metrics. Raises CheckpointError for a file that cannot be read as such."""
    path = metrics_file(folder)
    if path is None:
        return None
    course = Course(choices=_choices(folder))
    content = read_bounded(path, LARGEST)
    for number, record in enumerate(_records(path, content)):
        if number == _MOST_RECORDS:
            break
        course.add(record)
    course.updates.sort(key=lambda each: each.step)
    course.held_out.sort()
    return course


def _records(path: Path, content: bytes) -> Iterator[Mapping[str, object]]:
    match path.suffix:
        case ".csv":
            yield from csv.DictReader(content.decode("utf-8", "replace").splitlines())
        case ".json":
            history = json_object(content, path).get("log_history")
            yield from (each for each in history if isinstance(each, dict)) if isinstance(history, list) else ()
        case _:
            yield from json_lines(content.splitlines())


def json_lines(lines: Iterable[bytes]) -> Iterator[Mapping[str, object]]:
    """The objects among lines of JSON; what is none, such as a line that is still being written, is passed over."""
    for line in lines:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found


def _number(record: Mapping[str, object], names: tuple[str, ...]) -> float | None:
    for name in names:
        value = record.get(name)
        if isinstance(value, bool) or value is None or value == "":
            continue
        try:
            return float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            continue
    return None


def _choices(folder: Path) -> int | None:
    """Classes where the config names them, else tokens."""
    for place in (folder, *sorted(folder.glob("checkpoint-*"))[:1]):
        try:
            config = read_json(place / "config.json", MAX_CONFIG)
        except CheckpointError:
            continue
        names = config.get("architectures")
        classes = config.get("id2label")
        if isinstance(names, list) and any("Classification" in str(name) for name in names):
            return len(classes) if isinstance(classes, dict) else None
        found = config.get("vocab_size")
        return found if isinstance(found, int) and not isinstance(found, bool) and found > 1 else None
    return None
