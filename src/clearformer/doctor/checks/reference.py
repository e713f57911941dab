"""K31: with the same weights the module answers as its reference does."""

from __future__ import annotations

from collections.abc import Iterator

from clearformer.doctor.check import Check
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.doctor.operations.beside import apart, first_parting, reference_of
from clearformer.doctor.operations.recording import Recording, record
from clearformer.messages import doctor_reference as say


def _probe(examination: Examination) -> Iterator[Breach]:
    reference = reference_of(examination)
    found = apart(examination, reference)
    if not found:
        return
    mine = record(examination.asked, examination.generator())
    right = record(reference, examination.generator())
    length, floors = found[0]
    evidence = [Said(say.PARTS, {"length": length, "floors": floors, "count": len(found)})]
    suspects = ["rotary layout", "query groups tiled", "differs from the reference"]
    heads = _heads(mine), _heads(right)
    scales = _scale(mine), _scale(right)
    signs: dict[str, object] = {"shortest": length}
    if 0 < heads[0] < heads[1]:
        evidence.append(Said(say.FEWER_HEADS, {"mine": heads[0], "right": heads[1]}))
        suspects.insert(0, "query groups reduced")
        signs["recorded"] = 1
    if None not in scales and abs((scales[0] or 0.0) / (scales[1] or 1.0) - 1) > 1e-3:
        evidence.append(Said(say.OTHER_SCALE, {"mine": scales[0], "right": scales[1]}))
        suspects.insert(0, "scale wrong")
    place = first_parting(examination, reference)
    if place is not None:
        evidence.append(Said(say.FIRST, {"place": place}))
    yield Breach("K31", "ERROR", tuple(evidence), tuple(suspects), where=place, signs=signs)


def _heads(recording: Recording) -> int:
    """Score tables of the first attention, for one row."""
    if not recording.sites or recording.sites[0].visible is None:
        return 0
    first = recording.sites[0]
    table = first.query_length * first.key_length
    return first.visible.numel() // (len(recording.answer) * table) if table and first.visible is not None else 0


def _scale(recording: Recording) -> float | None:
    return recording.sites[0].scale if recording.sites else None


REFERENCE = Check(
    "K31", "reference", say.REFERENCE, say.REFERENCE_RISK, _probe, needs=("model", "reference"), quick=False
)  # fmt: skip
