"""Does a model compute what it should? Compare every tensor with a reference; where they part, find what mends it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import torch

from clearformer.checkpoint.folder import CONFIG
from clearformer.errors import UsageError
from clearformer.load import Found, Loaded, load, look
from clearformer.messages import Message
from clearformer.messages import verify as messages
from clearformer.store.pull import silent
from clearformer.store.resolve import Located
from clearformer.verify import checkpoint, hugging_face, ours, twin
from clearformer.verify.change import FLOAT32, Known
from clearformer.verify.ours import Suspect, suspect_of
from clearformer.verify.reading import Reading, reading_for
from clearformer.verify.recording import Recording, Reference, Row, comparable, spread
from clearformer.verify.trying import Explanation, explain
from clearformer.verify.verdict import Verdict, judge

Against = Literal["hf", "numpy"]
Stage = Literal["loading", "reference", "noise", "ours", "hypotheses"]
Progress = Callable[[Stage, int, int], None]
Note = tuple[Message, Mapping[str, object]]


@dataclass(frozen=True)
class Verification:
    """What was found. `rows` are the compared tensors in the order of computing; `first_difference` is the first that
    noise cannot explain, `explanation` what mends the model, each None where there is none."""

    name: str
    against: str
    verdict: Verdict
    rows: tuple[Row, ...]
    first_difference: str | None
    explanation: Explanation | None
    positions: int
    measured: tuple[str, ...]
    """The variations that the noise was measured on."""
    notes: tuple[Note, ...] = ()

    @property
    def max_abs(self) -> float:
        return max((row.max_abs for row in self.rows), default=math.nan)

    @property
    def hypothesis(self) -> str | None:
        return None if self.explanation is None else self.explanation.hypothesis.name

    def __str__(self) -> str:
        from clearformer.verify.report import as_text

        return as_text(self)


@dataclass(frozen=True)
class _Compared:
    """Both sides of a comparison, and what it could not reach."""

    found: Recording
    reference: Reference
    known: Known
    measured: tuple[str, ...]
    notes: tuple[Note, ...] = ()


def _quietly(stage: Stage, done: int, total: int) -> None:
    pass


def verify(
    model: str | Path | Loaded,
    *,
    against: Against | str | Path = "hf",
    text: str | None = None,
    progress: Progress = _quietly,
) -> Verification:
    """Compare a model, by its name or as it lies in memory, with transformers reading the same files ("hf"), with the
    NumPy twin ("numpy"), or with another checkpoint of the same architecture (a folder or a .gguf file).

    Ours runs in float64. `text` is read, at most 256 tokens of it; a sentence of our own if left out. Raises what
    `load` raises, UsageError for what cannot be compared, MachineError where transformers is missing or cannot read.
    """
    if against == "hf":
        # Before anything is loaded: the answer would come minutes late.
        from clearformer.verify.transformers_model import require_transformers

        require_transformers()
    loaded = model if isinstance(model, Loaded) else _loaded(model, progress)
    suspect, reading = suspect_of(loaded), reading_for(loaded, text)
    compared = _compare(loaded, suspect, reading, against, progress)
    rows = compared.reference.rows(compared.found)
    verdict, first = judge(rows)
    explanation = None
    if first is not None:
        known = replace(compared.known, clue=first.name, resolution=_resolution(loaded))
        advance = _stage(progress, "hypotheses")
        explanation = explain(suspect, known, reading, compared.reference, advance)
    return Verification(
        name=loaded.name,
        against=str(against),
        verdict=verdict,
        rows=tuple(rows),
        first_difference=None if first is None else first.name,
        explanation=explanation,
        positions=reading.positions,
        measured=compared.measured,
        notes=(*_notes_on(reading), *compared.notes),
    )


def _compare(
    loaded: Loaded, suspect: Suspect, reading: Reading, against: Against | str | Path, progress: Progress
) -> _Compared:
    if against == "numpy":
        return _with_twin(loaded, suspect, reading, progress)
    if against == "hf":
        return _with_transformers(loaded, suspect, reading, progress)
    return _with_checkpoint(loaded, suspect, reading, str(against), progress)


def _with_twin(loaded: Loaded, suspect: Suspect, reading: Reading, progress: Progress) -> _Compared:
    """The twin is given what the file says, where there is one: so a model changed after loading is found out."""
    progress("reference", 0, 0)
    right, notes = suspect, [(messages.SAME_READING, {})]
    if loaded.path is not None:
        right = suspect_of(_loaded(loaded.path.resolve(), progress))
    expected = twin.run(right, reading)
    progress("ours", 0, 0)
    found = ours.run(suspect, reading)
    progress("noise", 0, 0)
    others = ours.variations(right, reading)
    # What moves is our own rounding: the plain pass stands beside its variations.
    floor = spread(expected, []) | _only(spread(_first(others), others.values()), expected)
    known = Known(spec=right.spec, head=right.weights.get("head.project.weight"))
    return _Compared(found, Reference(expected, floor, checkpoint.EXACT), known, tuple(others), tuple(notes))


def _with_checkpoint(
    loaded: Loaded, suspect: Suspect, reading: Reading, other: str, progress: Progress
) -> _Compared:
    right_loaded = _loaded(other, progress)
    right = suspect_of(right_loaded)
    checkpoint.require_alike(suspect, right, other)
    progress("reference", 0, 0)
    expected = ours.run(right, reading)
    progress("ours", 0, 0)
    found = ours.run(suspect, reading)
    progress("noise", 0, 0)
    measured, notes, floor = [], list[Note](), spread(expected, [])
    sides = (("model", loaded, right, expected), ("reference", right_loaded, suspect, found))
    for name, file, weights, base in sides:
        if file.path is None:
            continue
        stored = checkpoint.stored_as(_found(file), weights.weights)
        if stored is None:
            notes.append((messages.TYPE_NOT_WRITTEN, {"name": file.name}))
            continue
        measured.append(f"stored as {name}")
        if any(not torch.equal(value, weights.weights[key]) for key, value in stored.items()):
            moved = ours.run(Suspect(weights.spec, stored), reading)
            floor |= {key: max(value, floor[key]) for key, value in _only(spread(base, [moved]), floor).items()}
    known = Known(spec=right.spec, head=right.weights.get("head.project.weight"))
    return _Compared(found, Reference(expected, floor, checkpoint.EXACT), known, tuple(measured), tuple(notes))


def _with_transformers(loaded: Loaded, suspect: Suspect, reading: Reading, progress: Progress) -> _Compared:
    if loaded.path is None:
        raise UsageError(messages.NO_FILES, name=loaded.name)
    progress("loading", 0, 0)
    found_file = _found(loaded)
    foreign = hugging_face.open_foreign(_located(loaded), found_file.tensors, suspect.spec, tuple(suspect.weights))
    progress("ours", 0, 0)
    found = ours.run_modules(suspect, reading, foreign.pairs.ours)
    answer = next(reversed(found))
    progress("reference", 0, 0)
    recorded = foreign.record(reading, answer)
    # A head that transformers applies at every position, and ours where it is asked, is compared by its answer.
    expected = {name: value for name, value in recorded.items() if name == answer or comparable(found.get(name), value)}
    progress("noise", 0, 0)
    others = foreign.variations(reading, answer)
    notes: list[Note] = [(messages.NO_VARIATION, {"name": name}) for name in foreign.left_out]
    if not hugging_face.comparable_answer(suspect.spec, foreign):
        expected.pop(answer, None)
        notes.append((messages.ANSWER_NOT_COMPARED, {}))
    known = Known(spec=foreign.spec, head=foreign.head)
    floor = spread(expected, others.values())
    return _Compared(found, Reference(expected, floor, hugging_face.EXACT), known, tuple(others), tuple(notes))


def _notes_on(reading: Reading) -> list[Note]:
    notes: list[Note] = []
    if reading.drawn and not reading.data.is_floating_point():
        notes.append((messages.DRAWN_IDS, {"count": reading.positions}))
    if reading.left_out:
        notes.append((messages.CUT_SHORT, {"count": reading.data.shape[1], "left_out": reading.left_out}))
    return notes


def _loaded(name: str | Path, progress: Progress) -> Loaded:
    return load(name, dtype=torch.float64, progress=_stage(progress, "loading"))


def _stage(progress: Progress, stage: Stage) -> Callable[[int, int], None]:
    return lambda done, total: progress(stage, done, total)


def _located(loaded: Loaded) -> Located:
    assert loaded.path is not None
    return Located("folder" if (loaded.path / CONFIG).is_file() else "gguf", loaded.path, loaded.name)


def _found(loaded: Loaded) -> Found:
    return look(_located(loaded))


def _resolution(loaded: Loaded) -> float:
    """The relative step of the coarsest type in which a vector is stored: norms are vectors."""
    if loaded.path is None:
        return FLOAT32
    file = _found(loaded).tensors
    types = [file.dtype(name) for name in file.names() if len(file.shape(name)) == 1]
    return max((float(torch.finfo(each).eps) for each in types if each.is_floating_point), default=FLOAT32)


def _first(others: Mapping[str, Recording]) -> Recording:
    return next(iter(others.values()))


def _only(floor: Mapping[str, float], names: Mapping[str, object]) -> dict[str, float]:
    return {name: value for name, value in floor.items() if name in names}
