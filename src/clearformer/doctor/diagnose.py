"""The whole examination: who answers how, the gate, each check in its turn, and the causes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torch import nn

from clearformer.doctor.calling.finding_out import find_out
from clearformer.doctor.calling.subject import evaluating
from clearformer.doctor.causes.deciding import decide
from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.diagnosis import Diagnosis
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Said, Skipped
from clearformer.doctor.noise import NO_NOISE, measure
from clearformer.doctor.parts import Kind, Parts
from clearformer.doctor.probing import breaches_of
from clearformer.doctor.registry import BY_ID, CHECKS
from clearformer.messages import doctor as say

Progress = Callable[[str, int, int], None]
"""(check, how many are done, of how many)."""

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
    return examine(
        Parts(model=model, kind=kind, vocab_size=vocab_size, **parts), quick=quick, only=only, first=first,
        progress=progress,
    )  # fmt: skip


def examine(
    parts: Parts,
    *,
    quick: bool = False,
    only: Sequence[str] = (),
    first: Sequence[str] = (),
    progress: Progress | None = None,
) -> Diagnosis:
    """As `diagnose`, for parts that are already together."""
    examination, called = _begin(parts)
    deadline = time.monotonic() + (QUICK_SECONDS if quick else SECONDS)
    passed: list[str] = []
    skipped: list[Skipped] = []
    closed_by: str | None = None
    wanted = list(_wanted(only, first))
    for done, check in enumerate(wanted):
        if progress is not None:
            progress(check.id, done, len(wanted))
        why = _unfit(check, parts, quick, closed_by) or (Said(say.NO_TIME) if time.monotonic() > deadline else None)
        if why is None:
            try:
                breaches = breaches_of(check, examination)
            except NotApplicable as answer:
                why = answer.why
            except Exception as error:
                why = Said(say.PROBE_RAISED, {"kind": type(error).__name__, "detail": error})
        if why is not None:
            skipped.append(Skipped(check.id, why))
            continue
        examination.breaches.extend(breaches)
        if not breaches:
            passed.append(check.id)
        elif check.gate and any(breach.severity == "ERROR" for breach in breaches):
            closed_by = check.id
    findings = decide(examination, BY_ID)
    floor = examination.noise.floor if examination.subject is not None else None
    return Diagnosis(findings, tuple(skipped), tuple(passed), called, floor)


def _begin(parts: Parts) -> tuple[Examination, Said | None]:
    if parts.model is None:
        return Examination(parts, None, NO_NOISE), None
    subject, called = find_out(parts)
    examination = Examination(parts, subject, NO_NOISE)
    with evaluating(subject.module):
        examination.noise = measure(subject, examination.generator())
    return examination, called


def _wanted(only: Sequence[str], first: Sequence[str]) -> Iterator[Check]:
    """The gate stays in front: what it closes must not be reported as something else."""
    chosen = [check for check in CHECKS if not only or check.id in only or check.gate]
    rank = {name: place for place, name in enumerate(first)}
    yield from sorted(chosen, key=lambda check: (not check.gate, rank.get(check.id, len(rank))))


def _unfit(check: Check, parts: Parts, quick: bool, closed_by: str | None) -> Said | None:
    """Why a check is not made, if it is not."""
    if missing := [name for name in check.needs if not parts.has(name)]:
        return Said(say.NEEDS[missing[0]])
    if parts.kind is not None and parts.kind not in check.kinds:
        return Said(say.OTHER_KIND, {"kind": parts.kind})
    if closed_by is not None and "model" in check.needs:
        return Said(say.GATE_CLOSED, {"check": closed_by})
    if quick and not check.quick:
        return Said(say.NOT_QUICK)
    return None
