"""Three references: the twin, another checkpoint, transformers; each with the noise that it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch

from clearformer.checkpoint.folder import CONFIG
from clearformer.errors import MachineError, UsageError
from clearformer.load import Found, Loaded, load, look
from clearformer.messages import Message
from clearformer.messages import verify as messages
from clearformer.store.resolve import Located
from clearformer.verify import checkpoint, hugging_face, ours, twin
from clearformer.verify.change import Known
from clearformer.verify.ours import Suspect, suspect_of
from clearformer.verify.places import blocks
from clearformer.verify.reading import Reading
from clearformer.verify.recording import Heard, Recording, Reference, comparable, spread

Stage = Literal["loading", "reference", "noise", "ours", "hypotheses"]
Progress = Callable[[Stage, int, int], None]
Note = tuple[Message, Mapping[str, object]]


@dataclass(frozen=True)
class Compared:
    """Both sides. `measured` names the variations behind the noise, `notes` say what was not reached."""

    found: Recording
    reference: Reference
    known: Known
    measured: tuple[str, ...]
    notes: tuple[Note, ...] = ()


def with_twin(loaded: Loaded, suspect: Suspect, reading: Reading, progress: Progress) -> Compared:
    """The twin is given what the file says, where there is one: so a model changed after loading is found out."""
    right = suspect if loaded.path is None else suspect_of(opened(loaded.path.resolve(), progress))
    expected = twin.run(right, reading, _blocks(progress, "reference", right))
    found = ours.run(suspect, reading, _blocks(progress, "ours", suspect))
    others = ours.variations(right, reading, _blocks(progress, "noise", right, 2))
    if (held := held_as(loaded, right)) is not None:
        others["held"] = ours.run(held, reading)
    base, *varied = others.values()
    floor = dict.fromkeys(expected, 0.0) | _only(spread(base, varied), expected)
    reference = Reference(expected, floor, checkpoint.EXACT)
    return Compared(found, reference, _known(right), tuple(others), ((messages.SAME_READING, {}),))


def with_checkpoint(loaded: Loaded, suspect: Suspect, reading: Reading, other: str, progress: Progress) -> Compared:
    """The other file read as ours is: both in float64, and all noise is that of how the two store their weights."""
    right_loaded = opened(other, progress)
    right = suspect_of(right_loaded)
    checkpoint.require_alike(suspect, right, other)
    expected = ours.run(right, reading, _blocks(progress, "reference", right))
    found = ours.run(suspect, reading, _blocks(progress, "ours", suspect))
    heard = _blocks(progress, "noise", suspect, 2)
    measured, notes, floor = [], list[Note](), dict.fromkeys(expected, 0.0)
    sides = (("model", loaded, right, expected), ("reference", right_loaded, suspect, found))
    for name, file, side, base in sides:
        if file.path is None:
            continue
        if (stored := checkpoint.stored_as(found_in(file), side.weights)) is None:
            notes.append((messages.TYPE_NOT_WRITTEN, {"name": file.name}))
            continue
        measured.append(f"stored as the {name}")
        if any(not torch.equal(value, side.weights[key]) for key, value in stored.items()):
            moved = spread(base, [ours.run(Suspect(side.spec, stored), reading, heard)])
            floor |= {key: max(value, floor[key]) for key, value in _only(moved, floor).items()}
    if (held := held_as(loaded, right)) is not None:
        measured.append("held")
        moved = _only(spread(expected, [ours.run(held, reading)]), floor)
        floor |= {key: value + floor[key] for key, value in moved.items()}
    reference = Reference(expected, floor, checkpoint.EXACT)
    return Compared(found, reference, _known(right), tuple(measured), tuple(notes))


def with_transformers(loaded: Loaded, suspect: Suspect, reading: Reading, progress: Progress) -> Compared:
    """transformers reads the same file by its own code, in float32."""
    if loaded.path is None:
        raise UsageError(messages.NO_FILES, name=loaded.name)
    progress("loading", 0, 0)
    file = found_in(loaded).tensors
    foreign = hugging_face.open_foreign(_located(loaded), file, suspect.spec, tuple(suspect.weights))
    found = ours.run_modules(suspect, reading, foreign.pairs.ours, _blocks(progress, "ours", suspect))
    answer = next(reversed(found))
    try:
        recorded = foreign.record(reading, answer, _blocks(progress, "reference", suspect))
    except (RuntimeError, ValueError, TypeError, LookupError, AttributeError) as error:
        detail = (str(error) or type(error).__name__).strip().partition("\n")[0].rstrip(".")
        raise MachineError(messages.CANNOT_COMPUTE, name=loaded.name, detail=detail) from error
    others = foreign.variations(reading, answer, _blocks(progress, "noise", suspect, 4))
    floor = spread(recorded, others.values())
    # float32 is what transformers computes in too.
    right = None if _dtype(loaded).itemsize > 2 else suspect_of(opened(loaded.path.resolve(), progress))
    if right is not None and (held := held_as(loaded, right)) is not None:
        exact, others["held"] = (ours.run_modules(each, reading, foreign.pairs.ours) for each in (right, held))
        moved = _only(spread(exact, [others["held"]]), floor)
        floor |= {name: value + floor[name] for name, value in moved.items()}
    # A head that transformers applies at every position, and ours where it is asked, is compared by its answer.
    expected = {name: value for name, value in recorded.items() if name == answer or comparable(found.get(name), value)}
    notes: list[Note] = [(messages.NO_VARIATION, {"name": messages.VARIATIONS[each]}) for each in foreign.left_out]
    if foreign.drawn:
        names = ", ".join(foreign.drawn[:4]) + (", …" if len(foreign.drawn) > 4 else "")
        notes.append((messages.DRAWN_WEIGHTS, {"count": len(foreign.drawn), "names": names}))
    if not hugging_face.comparable_answer(suspect.spec, foreign):
        expected.pop(answer, None)
        notes.append((messages.ANSWER_NOT_COMPARED, {}))
    reference = Reference(expected, floor, hugging_face.EXACT, noisily=True)
    return Compared(found, reference, Known(spec=foreign.spec, head=foreign.head), tuple(others), tuple(notes))


def opened(name: str | Path, progress: Progress) -> Loaded:
    """A model in float64."""
    return load(name, dtype=torch.float64, progress=lambda done, total: progress("loading", done, total))


def found_in(loaded: Loaded) -> Found:
    """The file that a model was read from, its weights unread."""
    return look(_located(loaded))


def held_as(loaded: Loaded, right: Suspect) -> Suspect | None:
    """The right weights in the number type of a model in memory; None where that loses nothing."""
    dtype = _dtype(loaded)
    weights = {name: value.to(dtype).double() for name, value in right.weights.items()}
    same = all(torch.equal(value, right.weights[name]) for name, value in weights.items())
    return None if same else Suspect(right.spec, weights)


def _dtype(loaded: Loaded) -> torch.dtype:
    return next(loaded.model.parameters()).dtype


def _located(loaded: Loaded) -> Located:
    assert loaded.path is not None
    return Located("folder" if (loaded.path / CONFIG).is_file() else "gguf", loaded.path, loaded.name)


def _known(right: Suspect) -> Known:
    return Known(spec=right.spec, head=right.weights.get("head.project.weight"))


def _only(floor: Mapping[str, float], names: Mapping[str, object]) -> dict[str, float]:
    return {name: value for name, value in floor.items() if name in names}


def _blocks(progress: Progress, stage: Stage, suspect: Suspect, passes: int = 1) -> Heard:
    """Progress by the blocks whose output has been heard."""
    outputs = {f"{name}.output" for name in blocks(suspect.spec)}
    done, total = 0, passes * len(outputs)
    progress(stage, done, total)

    def heard(name: str) -> None:
        nonlocal done
        if name in outputs:
            done += 1
            progress(stage, done, total)

    return heard
