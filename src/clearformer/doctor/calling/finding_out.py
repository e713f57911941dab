"""Which argument of a module takes what: first its signature is read, then each guess is tried."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import nn

from clearformer.doctor.calling.batch_argument import signatures
from clearformer.doctor.calling.caches import with_cache
from clearformer.doctor.calling.explicit import KEYS, Given, fits, imposed, overridden, settled
from clearformer.doctor.calling.filling import subjects
from clearformer.doctor.calling.kinds import by_behaviour, by_name
from clearformer.doctor.calling.layout import laid_out
from clearformer.doctor.calling.lengths import at_another_length, with_lengths
from clearformer.doctor.calling.masks import with_masks
from clearformer.doctor.calling.signature import Signature, innermost, read
from clearformer.doctor.calling.subject import Subject, evaluating
from clearformer.doctor.calling.telling import in_words, tried_in_words, written
from clearformer.doctor.calling.trying import LENGTH, NoAnswer, Trials, asked, inside, with_call
from clearformer.doctor.calling.widths import pictures, reads_ids, vocabulary
from clearformer.doctor.finding import Said
from clearformer.doctor.parts import Kind, Parts
from clearformer.errors import UsageError
from clearformer.messages import doctor_calling as say

LENGTHS = (64, 48, 32, 24, 16, 12)
"""Contexts that are tried where none was declared."""


def find_out(parts: Parts) -> tuple[Subject, Said]:
    """The module with its call, and what was concluded, in words.

    Raises UsageError where no call fits the module, saying what was tried and what was seen. Where a call fits but the
    module itself fails under it, the subject says with what (`raised`).
    """
    module = parts.model
    assert module is not None
    _refuse_meta(module)
    given = settled(parts.call)
    kind = parts.kind or by_name(module)
    signature = overridden(read(module, kind), given)
    with evaluating(module):
        trials = Trials()
        subject = _first(parts, signature, kind or "decoder", given, trials)
        if subject is None:
            subject, signature = _in_one_argument(parts, signature, kind, given, trials)
        subject = subject or at_another_length(trials)
        if subject is None:
            return _raised(parts, signature, trials)
        if "layout" not in given:
            subject = laid_out(subject, trials)
        subject = with_lengths(_with_context(_with_labels(subject, signature, trials)))
        subject = _with_plain(subject, signature)
        if kind is None:
            subject = replace(subject, kind=by_behaviour(subject, with_masks(subject, signature)))
        subject = imposed(with_masks(subject, signature), given)
        subject = with_cache(subject, signature)
    return subject, in_words(subject)


def _first(parts: Parts, signature: Signature, kind: Kind, given: Given, trials: Trials) -> Subject | None:
    """The first call that gets an answer with a place for each input; failing that, the first that gets one at all."""
    second: Subject | None = None
    for candidate in subjects(parts, signature, kind):
        if not fits(candidate, given):
            continue
        if candidate.only_length is not None and second is not None:
            break
        found = trials.answered(candidate)
        if found is not None and (found.per_position or kind == "forecaster"):
            return found
        second = second or found
    return second


def _in_one_argument(
    parts: Parts, signature: Signature, kind: Kind | None, given: Given, trials: Trials
) -> tuple[Subject | None, Signature]:
    """The first call that hands a dictionary of everything to the module's one argument."""
    assert parts.model is not None
    vocab_size = parts.vocab_size or vocabulary(parts.model) or 2
    for keyed in signatures(parts.model, kind, vocab_size):
        wanted = overridden(keyed, given)
        found = _first(parts, wanted, kind or "decoder", given, trials)
        if found is not None:
            return found, wanted
    return None, signature


def _raised(parts: Parts, signature: Signature, trials: Trials) -> tuple[Subject, Said]:
    """No call got an answer: the module's own failure is a finding, a call that does not fit is the user's to mend."""
    module = parts.model
    assert module is not None
    name = type(innermost(module)).__name__
    rows = vocabulary(module) or 0
    if parts.vocab_size is not None and 0 < rows < parts.vocab_size and _answers_with(parts, rows):
        raise UsageError(say.NO_VOCABULARY, module=name, rows=rows, vocab=parts.vocab_size, last=parts.vocab_size - 1)
    unexplained = [name for name in signature.named("other") if name in signature.required]
    if trials.failures and not unexplained:
        subject, error = trials.likeliest
        meant = reads_ids(module, subject.vocab_size) or (subject.call.takes != "ids" and not pictures(module, error))
        if not isinstance(error, NoAnswer) and inside(error) and meant:
            subject = replace(subject, raised=error)
            how = {"how": written(subject), "error": f"{type(error).__name__}: {error}"}
            return subject, Said(say.RAISES, how)
    raise UsageError(say.NO_CALL, module=name, tried=tried_in_words(trials), keys=", ".join(KEYS))


def _answers_with(parts: Parts, vocab_size: int) -> bool:
    try:
        return find_out(replace(parts, vocab_size=vocab_size))[0].raised is None
    except UsageError:
        return False


def _with_labels(subject: Subject, signature: Signature, trials: Trials) -> Subject:
    """Some decoders give the last position only, unless they are handed targets."""
    for name in signature.named("labels"):
        if subject.per_position or subject.kind not in ("decoder", "encoder-decoder"):
            break
        found = trials.answered(with_call(subject, labels=name))
        if found is not None and found.per_position:
            subject = found
    return subject


def _with_context(subject: Subject) -> Subject:
    """The longest input of those that are tried, where the user declares none.

    A forecaster that takes no shorter one, such as one with a head over all patches, takes that length only.
    """
    if subject.only_length is not None or subject.lengths:
        return subject
    if subject.kind == "forecaster":
        return _with_one_length(subject)
    if subject.context is not None:
        return subject
    for length in LENGTHS:
        inputs = subject.inputs(2, length, torch.Generator().manual_seed(0))
        if asked(subject, inputs) is not None:
            return subject if length == LENGTHS[0] else replace(subject, context=length)
    return replace(subject, context=LENGTH)


def _with_one_length(subject: Subject) -> Subject:
    def takes(length: int) -> bool:
        return asked(subject, subject.inputs(2, length, torch.Generator().manual_seed(0))) is not None

    wanted = LENGTHS if subject.context is None else (subject.context,)
    longest = next((length for length in wanted if takes(length)), None)
    if longest is None:
        return replace(subject, context=LENGTH)
    shorter = all(takes(length) for length in range(LENGTHS[-1], min(longest, LENGTHS[-3])))
    return replace(subject, context=longest, only_length=None if shorter else longest)


def _with_plain(subject: Subject, signature: Signature) -> Subject:
    """Positions and documents, where the module takes them in the usual form."""
    inputs = subject.inputs(2, subject.length(LENGTH), torch.Generator().manual_seed(0))
    places = torch.arange(inputs.shape[1], device=inputs.device).expand(*inputs.shape[:2])
    for name in signature.named("positions")[:1]:
        found = with_call(subject, positions=name)
        subject = subject if asked(found, inputs, positions=places) is None else found
    for name in signature.named("documents")[:1]:
        found = with_call(subject, documents=name)
        subject = subject if asked(found, inputs, documents=torch.zeros_like(places)) is None else found
    return subject


def _refuse_meta(module: nn.Module) -> None:
    if any(each.device.type == "meta" for each in module.parameters()):
        raise UsageError(say.NO_WEIGHTS, module=type(module).__name__)
