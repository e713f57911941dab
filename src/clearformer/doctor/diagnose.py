"""The whole examination: who answers how, the gate, each check in its turn, and the causes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from torch import nn

from clearformer.doctor.calling.finding_out import find_out
from clearformer.doctor.calling.lengths import lengths_in_words
from clearformer.doctor.calling.subject import evaluating
from clearformer.doctor.causes.deciding import decide
from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.diagnosis import Diagnosis
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said, Skipped
from clearformer.doctor.noise import NO_NOISE, measure
from clearformer.doctor.parts import Kind, Parts
from clearformer.doctor.probing import breaches_of
from clearformer.doctor.registry import BY_ID, CHECKS
from clearformer.doctor.telling import Called, Checked, Deciding, Starting, Teller, Told
from clearformer.errors import ClearformerError, UsageError
from clearformer.messages import doctor as say
from clearformer.messages import verbatim

Progress = Callable[[str, int, int], None]
"""(check, how many are done, of how many)."""

# Of this thread's own work: on a busy machine a check comes later, and is not left out.
QUICK_SECONDS = 10.0
SECONDS = 60.0


def diagnose(
    model: nn.Module | None = None,
    *,
    kind: Kind | None = None,
    vocab_size: int | None = None,
    quick: bool = False,
    only: Sequence[str] = (),
    first: Sequence[str] = (),
    progress: Progress | None = None,
    **parts: Any,
) -> Diagnosis:
    """Which laws the module and its training break, each with evidence, a named cause and a mend.

    `parts` are the fields of `Parts`: loss, collate, tokenizer, generate and so on. `only` names the checks to make,
    `first` those to make before the others. Raises UsageError where the module cannot be called and nothing else was
    handed in, saying what was tried.
    """

    def tell(told: Told) -> None:
        if progress is not None and isinstance(told, Starting):
            progress(told.check, told.done, told.total)

    together = Parts(model=model, kind=kind, vocab_size=vocab_size, **parts)
    return examine(together, quick=quick, only=only, first=first, tell=tell)


def examine(
    parts: Parts,
    *,
    quick: bool = False,
    only: Sequence[str] = (),
    first: Sequence[str] = (),
    without: Mapping[str, Said] | None = None,
    seconds: float = SECONDS,
    tell: Teller = lambda told: None,
) -> Diagnosis:
    """As `diagnose`, for parts that are already together. `without` names checks that are not made, each with the
    reason; after `seconds` no further one is begun; `tell` hears what happens as it happens."""
    if parts.model is not None:
        # What torch.compile has made runs graphs that neither recorders nor mends see into; its laws are its source's.
        parts = replace(parts, model=getattr(parts.model, "_orig_mod", parts.model))
    examination = _begin(parts, tell)
    deadline = time.thread_time() + (min(QUICK_SECONDS, seconds) if quick else seconds)
    passed: list[str] = []
    skipped: list[Skipped] = []
    wanted = list(_wanted(only, first))
    left_out = dict(without or {})
    for done, check in enumerate(wanted):
        tell(Starting(check.id, done, len(wanted)))
        why = left_out.get(check.id) or _unfit(check, examination, quick)
        breaches, why = _made(check, examination, why or (Said(say.NO_TIME) if time.thread_time() > deadline else None))
        tell(Checked(check.id, breaches, why))
        if why is not None:
            skipped.append(Skipped(check.id, why))
            continue
        examination.breaches.extend(breaches)
        if not breaches:
            passed.append(check.id)
        elif (check.gate or check.closes) and any(breach.severity == "ERROR" for breach in breaches):
            examination.closed_by = check.id
    if examination.uncalled is not None and not examination.breaches and not _others(parts):
        raise examination.uncalled
    tell(Deciding())
    findings = decide(examination, BY_ID)
    return Diagnosis(findings, tuple(skipped), tuple(passed), examination.called, examination.floor)


def _made(check: Check, examination: Examination, why: Said | None) -> tuple[tuple[Breach, ...], Said | None]:
    """The breaches that a check finds, or why it was not made."""
    if why is not None:
        return (), why
    try:
        return breaches_of(check, examination), None
    except NotApplicable as answer:
        return (), answer.why
    except ClearformerError as error:
        return (), Said(say.NOT_POSSIBLE, {"why": verbatim(error.cause("en"), error.cause("zh"))})
    except (Exception, SystemExit) as error:
        told = {"kind": type(error).__name__, "detail": error}
        lengths = examination.subject.lengths if examination.subject is not None else ()
        if lengths:
            return (), Said(say.OTHER_LENGTHS, told | {"lengths": lengths_in_words(lengths)})
        return (), Said(say.PROBE_RAISED, told)


def _begin(parts: Parts, tell: Teller) -> Examination:
    """The module as it answers; where it does not, the examination goes on with what does not need it."""
    examination = Examination(parts, None, NO_NOISE)
    if parts.model is None:
        return examination
    try:
        examination.subject, examination.called = find_out(parts)
    except UsageError as error:
        examination.uncalled = error
        return examination
    subject = examination.subject
    examination.parts = replace(parts, kind=subject.kind, vocab_size=parts.vocab_size or subject.vocab_size or None)
    if subject.raised is None:
        with evaluating(parts.model):
            try:
                examination.noise = measure(subject, examination.generator())
            except Exception as error:  # it answered when it was tried, with another length
                examination.subject = replace(subject, raised=error)
    tell(Called(examination.called, examination.floor))
    return examination


def _others(parts: Parts) -> bool:
    """Whether something was handed in that checks look at without the module."""
    return any(parts.has(name) for check in CHECKS for name in check.needs if name != "model")


def _wanted(only: Sequence[str], first: Sequence[str]) -> Iterator[Check]:
    """The gate stays in front: what it closes must not be reported as something else."""
    chosen = [check for check in CHECKS if not only or check.id in only or check.gate]
    rank = {name: place for place, name in enumerate(first)}
    yield from sorted(chosen, key=lambda check: (not check.gate, rank.get(check.id, len(rank))))


def _unfit(check: Check, examination: Examination, quick: bool) -> Said | None:
    """Why a check is not made, if it is not."""
    parts = examination.parts
    if missing := [name for name in check.needs if not parts.has(name)]:
        return Said(say.NEEDS[missing[0]])
    if "model" in check.needs and examination.uncalled is not None and not check.uncalled:
        error = examination.uncalled
        return Said(say.NOT_CALLED, {"why": verbatim(error.cause("en"), error.cause("zh"))})
    if "model" in check.needs and examination.raised and not check.uncalled:
        return Said(say.ONLY_RAISES)
    if parts.kind is not None and parts.kind not in check.kinds:
        return Said(say.OTHER_KIND, {"kind": parts.kind})
    if examination.closed_by is not None and "model" in check.needs:
        return Said(say.GATE_CLOSED, {"check": examination.closed_by})
    if quick and not check.quick:
        return Said(say.NOT_QUICK)
    return None
