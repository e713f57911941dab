"""Where in the module an operation lies that only its effect has shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clearformer.doctor.operations.following import Followed
from clearformer.doctor.operations.mends import Edit
from clearformer.doctor.operations.operation import Operation
from clearformer.doctor.operations.places import Places
from clearformer.doctor.operations.recording import LENGTH, ROWS, record
from clearformer.doctor.operations.tracker import Tracker

if TYPE_CHECKING:
    from clearformer.doctor.examination import Examination


def dropout(examination: Examination) -> str | None:
    """The first operation that drops something."""
    recording = record(examination.asked, examination.generator())
    places = [place for _, place in recording.dropouts] + [site.place for site in recording.sites if site.dropout]
    return places[0] if places else None


@dataclass
class _Noting:
    """Changes nothing, and notes where an edit would have changed something."""

    edit: Edit
    places: list[str | None] = field(default_factory=list)

    def edited(self, operation: Operation, known: Followed) -> Operation:
        if self.edit(operation, known) is not operation:
            self.places.append(known.place())
        return operation


def edited_by(edit: Edit) -> Callable[[Examination], str | None]:
    """The first operation that an edit would change."""

    def located(examination: Examination) -> str | None:
        subject, noting, places = examination.asked, _Noting(edit), Places()
        inputs = subject.inputs(ROWS, subject.length(LENGTH), examination.generator())
        with places.followed(subject.module), Tracker(noting, batch_first=subject.call.batch_first, places=places):
            subject.answer(inputs)
        return noting.places[0] if noting.places else None

    return located
