"""Activations kept by name while a model reads: in memory, or on disk where they are large."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from clearformer.errors import MachineError, UsageError
from clearformer.inspect.plan import Shape
from clearformer.inspect.points import bytes_of, chosen, narrower
from clearformer.inspect.subject import Input, Subject, evaluating, subject_of
from clearformer.inspect.trace import reading_of
from clearformer.load import Loaded
from clearformer.machine import in_binary_units
from clearformer.machine import memory as machine_memory
from clearformer.messages import capture as messages
from clearformer.model import Model
from clearformer.taps import Listening, Tap, matches

INDEX = "index.json"


@dataclass(frozen=True, eq=False)
class Captured(Mapping[str, Tensor]):
    """Activations by their full names. `tokens` are the labels of the first row, `output` is what the model answered.

    A short name will do where it means one: `captured["blocks.0.output"]`.
    """

    tokens: tuple[str, ...]
    activations: dict[str, Tensor]
    output: Tensor

    def __getitem__(self, name: str) -> Tensor:
        if name in self.activations:
            return self.activations[name]
        found = self.matching(name)
        if len(found) > 1:
            near = ", ".join(list(found)[:3])
            raise UsageError(messages.AMBIGUOUS, found=name, count=len(found), near=near)
        if not found:
            raise KeyError(name)
        return next(iter(found.values()))

    def __iter__(self) -> Iterator[str]:
        return iter(self.activations)

    def __len__(self) -> int:
        return len(self.activations)

    def matching(self, pattern: str) -> dict[str, Tensor]:
        """Those whose name matches the pattern."""
        return {name: value for name, value in self.activations.items() if matches(name, pattern)}

    def __repr__(self) -> str:
        """Names and shapes: the numbers would bury whatever else a notebook shows."""
        shown = [f"  {name}: {tuple(value.shape)}" for name, value in self.activations.items()]
        return "\n".join([f"Captured, {len(shown)} activations", *shown])


def capture(
    looked_at: Loaded | Model,
    given: Input,
    *patterns: str,
    target: Sequence[int] | None = None,
    folder: str | Path | None = None,
) -> Captured:
    """Read `given` once and keep every activation that matches a pattern: `blocks.*.attention.weights`, `**.output`.

    A `*` stands for one part of a name, `**` for several; all names are those of `inspect.points`. With `folder` each
    is written there as an .npy file as it arises and read from there by need (bfloat16 as float32, which holds it
    exactly). Reading changes no bit of the answer. Raises UsageError for a pattern that matches nothing and for a
    folder in use, MachineError for more than memory or disk hold, else as `subject_of` does.
    """
    subject = subject_of(looked_at, given, target)
    shapes = chosen(subject.model.spec, reading_of(subject), patterns or ("**",))
    kept = _InMemory() if folder is None else _OnDisk(Path(folder))
    kept.require_room(shapes, next(subject.model.parameters()).element_size())
    # Without inference mode: its tensors refuse gradients, and what a user goes on with should not.
    with evaluating(subject.model), torch.no_grad():
        output = run(subject, Listening(kept.keep, patterns=tuple(patterns)))
    return Captured(subject.tokens, kept.finish(), output)


def run(subject: Subject, tap: Tap) -> Tensor:
    """One pass of the subject's model over its input."""
    inputs = [subject.data] if subject.target is None else [subject.data, subject.target]
    answer: Tensor = subject.model(*inputs, tap=tap)
    return answer


def open_captured(folder: str | Path) -> dict[str, Tensor]:
    """The activations that an earlier `capture` wrote into `folder`, read from disk by need."""
    place = Path(folder)
    index = json.loads((place / INDEX).read_text(encoding="utf-8"))
    return {name: _mapped(place / f"{name}.npy") for name in index}


class _InMemory:
    def __init__(self) -> None:
        self._values: dict[str, Tensor] = {}

    def require_room(self, shapes: dict[str, Shape], itemsize: int) -> None:
        size, free = bytes_of(shapes, itemsize), machine_memory().available
        if free is not None and size > free:
            raise MachineError(
                messages.TOO_LARGE,
                count=len(shapes),
                size=in_binary_units(size),
                free=in_binary_units(free),
                narrower=narrower(shapes),
            )

    def keep(self, name: str, value: Tensor) -> None:
        # A copy where the tensor is a view of a larger one, so that only what was asked for stays in memory.
        self._values[name] = value.clone() if value.untyped_storage().nbytes() > value.nbytes else value

    def finish(self) -> dict[str, Tensor]:
        return self._values


class _OnDisk:
    def __init__(self, folder: Path) -> None:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(messages.FOLDER_IN_USE, folder=folder)
        self._folder = folder
        self._names: list[str] = []

    def require_room(self, shapes: dict[str, Shape], itemsize: int) -> None:
        place = next(each for each in (self._folder, *self._folder.absolute().parents) if each.exists())
        size, free = bytes_of(shapes, max(4, itemsize)), shutil.disk_usage(place).free
        if size > free:
            raise MachineError(
                messages.DISK_TOO_SMALL,
                count=len(shapes),
                size=in_binary_units(size),
                free=in_binary_units(free),
                folder=place,
                narrower=narrower(shapes),
            )
        self._folder.mkdir(parents=True, exist_ok=True)

    def keep(self, name: str, value: Tensor) -> None:
        exact = value.float() if value.dtype == torch.bfloat16 else value
        np.save(self._folder / f"{name}.npy", exact.cpu().numpy())
        self._names.append(name)

    def finish(self) -> dict[str, Tensor]:
        (self._folder / INDEX).write_text(json.dumps(self._names, indent=1), encoding="utf-8")
        return open_captured(self._folder)


def _mapped(path: Path) -> Tensor:
    # Copy on write: a tensor may be changed, the file is not.
    return torch.from_numpy(np.load(path, mmap_mode="c", allow_pickle=False))
