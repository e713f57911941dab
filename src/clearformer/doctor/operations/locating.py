"""Where in the module an operation lies that only its effect has shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clearformer.doctor.operations.recording import record

if TYPE_CHECKING:
    from clearformer.doctor.examination import Examination


def dropout(examination: Examination) -> str | None:
    """The first operation that drops something."""
    recording = record(examination.asked, examination.generator())
    places = [place for _, place in recording.dropouts] + [site.place for site in recording.sites if site.dropout]
    return places[0] if places else None
