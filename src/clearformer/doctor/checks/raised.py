"""K38: the module answers whatever it should answer, and an error that it raises is explained by its axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from torch import Tensor

from clearformer.doctor.calling.lengths import lengths_in_words, step_of
from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.checks.parameters import published
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said, Severity
from clearformer.doctor.operations.failures import read, refuses
from clearformer.messages import Message
from clearformer.messages import doctor_failures as say

ROWS, LENGTH = 3, 11
BLOCK = 4
"""The smallest block that one attends in: a module that fails at every second length has a slip."""


def _probe(examination: Examination) -> Iterator[Breach]:
    subject = examination.subject
    if subject is None:
        raise NotApplicable(say.UNCALLED)
    if subject.raised is not None:
        if subject.call.takes != "ids":
            # How many features it takes was guessed: that may be the whole fault.
            raise NotApplicable(say.GUESSED, kind=type(subject.raised).__name__, detail=subject.raised)
        error: Exception | None = _again(examination) or subject.raised
        assert error is not None
        yield _breach("ERROR", say.RAISES, error, examination, ROWS, LENGTH)
        return
    declared = examination.parts.kind in {"decoder", "encoder-decoder"} and not published(subject.module)
    if subject.only_length is not None:
        if declared and (error := _again(examination)) is not None:
            yield _breach("ERROR", say.ONE_LENGTH, error, examination, ROWS, LENGTH, only=subject.only_length)
        return
    yield from _shapes(examination, "ERROR" if declared else "WARN")
    yield from _gradient(examination)


def _again(examination: Examination) -> Exception | None:
    """The error under sizes that nothing else has, so that a number in it names its axis."""
    subject = examination.asked
    inputs = subject.inputs(ROWS, LENGTH, examination.generator())
    return _error(lambda: subject.answer(inputs))


def _shapes(examination: Examination, severity: Severity) -> Iterator[Breach]:
    """One row, three rows, one position, an odd number of positions, and inputs that do not lie in one piece."""
    subject, generator = examination.asked, examination.generator()
    usual = subject.length(LENGTH)
    forecasts = subject.kind == "forecaster"
    for rows, length, message in (
        (1, usual, say.ROWS), (ROWS, usual, say.ROWS), (2, 1, say.LENGTH), (2, min(usual, 7), say.LENGTH)
    ):  # fmt: skip
        if length != usual and (forecasts or not subject.per_position):
            continue
        inputs = subject.inputs(rows, length, generator)
        if (error := _error(partial(subject.answer, inputs))) is None:
            continue
        if message is say.LENGTH and (subject.lengths or refuses(error)):
            yield _length(severity, error, examination, length)
            continue
        yield _breach(severity, message, error, examination, rows, length)
        return
    inputs = subject.inputs(ROWS, usual, generator)
    scattered = inputs.transpose(0, 1).contiguous().transpose(0, 1)
    if (error := _error(lambda: subject.answer(scattered))) is not None:
        yield _breach("WARN", say.SCATTERED, error, examination, ROWS, usual)


def _length(severity: Severity, error: Exception, examination: Examination, length: int) -> Breach:
    """A length that is not taken: a rule that the module states itself is told, and blocks are a choice."""
    lengths = examination.asked.lengths
    if not refuses(error):
        severity = "WARN" if step_of(lengths) >= BLOCK else severity
        return _breach(severity, say.LENGTH, error, examination, 2, length)
    told = {"kind": type(error).__name__, "detail": error, "length": length}
    evidence = [Said(say.LENGTH, told)]
    if lengths:
        evidence.append(Said(say.LENGTHS, {"lengths": lengths_in_words(lengths)}))
    return Breach("K38", "INFO", tuple(evidence), ("lengths of its own",), law="lengths")


def _gradient(examination: Examination) -> Iterator[Breach]:
    """The backward pass; gradients that were there are put back."""
    subject = examination.asked
    inputs = subject.inputs(2, subject.length(LENGTH), examination.generator())
    kept = {each: each.grad for each in subject.module.parameters()}

    def back() -> Tensor:
        answer = subject.answer(inputs, gradient=True)
        if answer.requires_grad:
            answer.float().sum().backward()
        return answer

    try:
        error = _error(back)
    finally:
        for each, gradient in kept.items():
            each.grad = gradient
    if error is not None:
        yield _breach("ERROR", say.BACKWARD, error, examination, 2, inputs.shape[1])


def _error(asked: Callable[[], object]) -> Exception | None:
    try:
        asked()
    except Exception as error:
        return error
    return None


def _breach(
    severity: Severity, message: Message, error: Exception, examination: Examination, rows: int, length: int,
    **values: object,
) -> Breach:  # fmt: skip
    failed = read(error, examination.asked.module, {"B": rows, "T": length})
    told = {"kind": failed.kind, "detail": failed.message, "rows": rows, "length": length} | values
    evidence = [Said(message, told)]
    if failed.axes and failed.cause == "shapes disagree":
        evidence.append(Said(say.AXES, {"axes": ", ".join(f"{size} = {name}" for size, name in failed.axes)}))
    signs = {"error": failed.kind}
    return Breach("K38", severity, tuple(evidence), (failed.cause,), failed.place, signs, law=message.en)


RAISED = Check("K38", "raised errors", say.RAISED, say.RAISED_RISK, _probe, uncalled=True)
