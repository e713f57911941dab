"""The states from which training resumes: each a folder that appears whole or not at all, its files hashed.

    state/step-00000120/tensors.safetensors · facts.json · manifest.json

The newest two are kept. One that a flipped bit or a lost tail has damaged is named and passed over for the one before.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from clearformer.checkpoint.atomic import TEMPORARY, new_folder, write_bytes
from clearformer.checkpoint.manifest import check_manifest, write_manifest
from clearformer.checkpoint.reading import read_json
from clearformer.checkpoint.safetensors_file import open_safetensors
from clearformer.checkpoint.writing import save_tensors
from clearformer.errors import CheckpointError
from clearformer.messages import runs as say
from clearformer.runs.folder import RunFolder

TENSORS, FACTS = "tensors.safetensors", "facts.json"
KEPT = 2
_MAX_FACTS = 64 * 2**20
_NAME = re.compile(r"step-(\d{8,})(?:\.(\d+))?")


@dataclass(frozen=True)
class State:
    """Training after `step` updates: every tensor by name, and whatever else decides how it goes on, as JSON."""

    step: int
    tensors: Mapping[str, Tensor]
    facts: Mapping[str, Any]


def save_state(run: RunFolder, state: State) -> Path:
    """Put the state on the disk, and only then remove the older ones. The run's lock must be held.

    Raises CheckpointError, on a full disk for one; the states before are then untouched.
    """
    path = _free_path(run.state_path, state.step)
    with new_folder(path) as temporary:
        save_tensors(temporary / TENSORS, state.tensors)
        write_bytes(temporary / FACTS, json.dumps({"step": state.step, **state.facts}).encode("utf-8"))
        write_manifest(temporary)
    _remove_all_but(KEPT, run.state_path, path)
    return path


def newest_state(run: RunFolder, warn: Callable[[CheckpointError], None]) -> State | None:
    """The newest state that is whole, its tensors mapped from the file; None where there is none.

    `warn` is called with what is wrong with each newer one.
    """
    for path in reversed(_states(run.state_path)):
        try:
            return _read(path)
        except CheckpointError as error:
            warn(error)
    return None


def _read(path: Path) -> State:
    listed = check_manifest(path).files
    if lacking := [name for name in (TENSORS, FACTS) if name not in listed]:
        raise CheckpointError(say.BAD_STATE, path=path, name=lacking[0])
    facts = read_json(path / FACTS, _MAX_FACTS)
    if type(step := facts.pop("step", None)) is not int:
        raise CheckpointError(say.BAD_STATE, path=path / FACTS, name="step")
    file = open_safetensors(path / TENSORS)
    return State(step, {name: file.tensor(name) for name in file.names()}, facts)


def _free_path(folder: Path, step: int) -> Path:
    """A second state of one step stands beside the first: neither is ever absent, and the first may be damaged."""
    path, attempt = folder / f"step-{step:08d}", 0
    while path.exists():
        attempt += 1
        path = folder / f"step-{step:08d}.{attempt}"
    return path


def _states(folder: Path) -> list[Path]:
    """Oldest first."""
    found = {path: match for path in folder.glob("step-*") if (match := _NAME.fullmatch(path.name))}
    return sorted(found, key=lambda path: (int(found[path][1]), int(found[path][2] or 0)))


def _remove_all_but(count: int, folder: Path, newest: Path) -> None:
    """Keep `newest` and those before it, `count` in all. States of later steps are damaged ones that a resume passed
    over; training has gone on without them."""
    states = _states(folder)
    end = states.index(newest) + 1
    for path in states[: max(end - count, 0)] + states[end:]:
        # Renamed first: a state that is half removed must not look like one that is damaged.
        aside = path.with_name(f"{TEMPORARY}{path.name}")
        path.rename(aside)
        shutil.rmtree(aside)
