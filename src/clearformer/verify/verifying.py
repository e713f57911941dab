"""Does a model compute what it should? Compare every tensor with a reference; where they part, find what mends it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import torch

from clearformer.errors import UsageError
from clearformer.load import Loaded
from clearformer.messages import verify as messages
from clearformer.verify.change import FLOAT32
from clearformer.verify.ours import Suspect, suspect_of
from clearformer.verify.reading import Reading, reading_for
from clearformer.verify.recording import Row, on_the_stream
from clearformer.verify.references import (
    Compared,
    Note,
    Progress,
    Stage,
    found_in,
    opened,
    with_checkpoint,
    with_transformers,
    with_twin,
)
from clearformer.verify.transformers_model import require_transformers
from clearformer.verify.trying import Explanation, explain
from clearformer.verify.verdict import Verdict, apart_inside, judge

Against = Literal["hf", "numpy"]


@dataclass(frozen=True)
class Verification:
    """What was found. `rows` are the compared tensors in the order of computing; `first_difference` is the first that
    noise cannot explain, `explanation` what mends the model, each None where there is none.

    `measured` names the variations behind the noise; `exact` is the relative difference that is noise in any case.
    """

    name: str
    against: str
    verdict: Verdict
    rows: tuple[Row, ...]
    first_difference: str | None
    explanation: Explanation | None
    positions: int
    measured: tuple[str, ...]
    exact: float
    notes: tuple[Note, ...] = ()

    @property
    def max_abs(self) -> float:
        """The largest difference of any tensor."""
        return max((row.max_abs for row in self.rows), default=math.nan)

    @property
    def hypothesis(self) -> str | None:
        """The stable word for what is wrong: see `hypotheses`."""
        return None if self.explanation is None else self.explanation.hypothesis.name

    def __str__(self) -> str:
        from clearformer.verify.report import as_text

        return as_text(self)


def no_progress(stage: Stage, done: int, total: int) -> None:
    """Nobody watches."""


def verify(
    model: str | Path | Loaded,
    *,
    against: Against | str | Path = "hf",
    text: str | None = None,
    progress: Progress = no_progress,
) -> Verification:
    """Compare a model, by its name or as it lies in memory, with transformers reading the same files ("hf"), with the
    NumPy twin ("numpy"), or with another checkpoint of the same architecture, by its name.

    Ours runs in float64. `text` is read, at most 256 tokens of it; a sentence of our own if left out. Raises what
    `load` raises, UsageError for what cannot be compared, MachineError where transformers is missing or cannot read.
    """
    if against == "hf":
        # Before anything is loaded: the answer would come minutes late.
        require_transformers()
    loaded = model if isinstance(model, Loaded) else opened(model, progress)
    suspect, reading = suspect_of(loaded), reading_for(loaded, text)
    compared = _compare(loaded, suspect, reading, against, progress)
    rows = compared.reference.rows(compared.found)
    if not any(on_the_stream(row.name) for row in rows):
        raise UsageError(messages.NOTHING_COMPARED, name=loaded.name)
    verdict, first = judge(rows, compared.reference)
    explanation = None
    if first is not None:
        known = replace(compared.known, clue=first.name, resolution=_resolution(loaded))
        advance = lambda done, total: progress("hypotheses", done, total)  # noqa: E731
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
        exact=compared.reference.exact,
        notes=(*_notes_on(reading), *compared.notes, *_inside(rows, verdict)),
    )


def _compare(
    loaded: Loaded, suspect: Suspect, reading: Reading, against: Against | str | Path, progress: Progress
) -> Compared:
    if against == "numpy":
        return with_twin(loaded, suspect, reading, progress)
    if against == "hf":
        return with_transformers(loaded, suspect, reading, progress)
    return with_checkpoint(loaded, suspect, reading, str(against), progress)


def _notes_on(reading: Reading) -> list[Note]:
    notes: list[Note] = []
    if reading.drawn:
        notes.append((messages.DRAWN_IDS, {"count": reading.data.shape[1]}))
    if reading.left_out:
        notes.append((messages.CUT_SHORT, {"count": reading.data.shape[1], "left_out": reading.left_out}))
    return notes


def _inside(rows: Sequence[Row], verdict: Verdict) -> list[Note]:
    """Heads or rotary pairs in another order, where what leaves the blocks agrees."""
    apart = apart_inside(rows) if verdict != "bug" else ()
    return [(messages.APART_INSIDE, {"count": len(apart), "name": apart[0].name})] if apart else []


def _resolution(loaded: Loaded) -> float:
    """The relative step of the coarsest type in which a vector is stored: norms are vectors."""
    if loaded.path is None:
        return FLOAT32
    file = found_in(loaded).tensors
    types = [file.dtype(name) for name in file.names() if len(file.shape(name)) == 1]
    return max((float(torch.finfo(each).eps) for each in types if each.is_floating_point), default=FLOAT32)
