"""Breaches → findings: every breach is accounted for by one cause, the surest causes first."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from clearformer.doctor.causes.cause import Cause
from clearformer.doctor.causes.table import CAUSES
from clearformer.doctor.check import Check
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import SEVERITIES, Breach, Finding
from clearformer.doctor.probing import breaches_of, untouched

TRIED = 14
"""Suspects whose mend is tried."""
SECONDS = 15.0
"""Time for experiments. What is not tried by then stays a suspicion."""
RECORDED = 3.0
"""A check that saw the operation itself weighs as much as so many that saw its effect."""


def decide(examination: Examination, checks: dict[str, Check]) -> tuple[Finding, ...]:
    """The findings, worst first and within that confirmed first.

    The cause that most breaches suspect is tried first: its mend is applied in place and the checks are run again.
    What then holds was its doing. A cause whose mend would also mend others is tried after these. What no mend
    explains goes to its own first suspect, unconfirmed.
    """
    left = list(examination.breaches)
    findings: list[Finding] = []
    ruled_out: set[str] = set()
    deadline = time.thread_time() + SECONDS
    tried: dict[str, tuple[Breach, ...]] = {}
    order = _in_order(left)
    for cause, in_part in [(cause, False) for cause in order] + [(cause, True) for cause in order]:
        suspected = tuple(breach for breach in left if cause.name in breach.suspects)
        if not suspected or not cause.fits(suspected) or time.thread_time() > deadline:
            continue
        # A mend that does nothing for those who suspect it is not tried on the others.
        if cause.name not in tried:
            tried[cause.name] = _explained(suspected, cause, examination, checks)
        explained = tuple(breach for breach in tried[cause.name] if breach in left)
        if not any(breach.severity == suspected[0].severity for breach in explained):
            ruled_out.add(cause.name)
            continue
        # What leaves the future readable stands back behind whatever hides it.
        if not in_part and any(breach.check == "K01" and breach not in explained for breach in suspected):
            continue
        others = tuple(breach for breach in left if breach not in suspected)
        explained += _explained(others, cause, examination, checks)
        if not _alive(cause, examination):
            continue
        findings.append(_finding(cause, explained, examination, confirmed=True))
        left = [breach for breach in left if breach not in explained]
    findings.extend(_unconfirmed(left, ruled_out))
    return _in_rank(findings)


def undecided(breaches: Sequence[Breach]) -> tuple[Finding, ...]:
    """The findings by suspicion alone, where no experiment can be made any more."""
    return _in_rank(_unconfirmed(list(breaches)))


def _in_rank(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda each: (SEVERITIES.index(each.severity), not each.confirmed)))


def _in_order(breaches: list[Breach]) -> list[Cause]:
    """Suspects by how many breaches name them, and how early."""
    weight: dict[str, float] = defaultdict(float)
    for breach in breaches:
        for place, name in enumerate(breach.suspects):
            weight[name] += (RECORDED if "recorded" in breach.signs else 1.0) / (1 + place)
    names = sorted(weight, key=lambda name: (CAUSES[name].general, -weight[name]))
    return [CAUSES[name] for name in names if CAUSES[name].mend is not None][:TRIED]


def _explained(
    breaches: Iterable[Breach], cause: Cause, examination: Examination, checks: dict[str, Check]
) -> tuple[Breach, ...]:
    """The breaches that are gone under the cause's mend. A mend that cannot be made explains nothing."""
    assert cause.mend is not None
    gone: list[Breach] = []
    again: dict[str, tuple[Breach, ...]] = {}
    for breach in breaches:
        try:
            if breach.check not in again:
                with cause.mend(examination) as tracker:
                    again[breach.check] = breaches_of(checks[breach.check], examination)
                if tracker is not None and not tracker.edits:
                    return tuple(gone)
        except Exception:
            continue
        if not any((each.severity, each.law) == (breach.severity, breach.law) for each in again[breach.check]):
            gone.append(breach)
    return tuple(gone)


def _alive(cause: Cause, examination: Examination) -> bool:
    """Whether the mended module still answers with numbers that depend on what it reads: else any law would hold."""
    subject = examination.subject
    if subject is None or cause.mend is None:
        return True
    generator = examination.generator()
    inputs = subject.inputs(2, subject.length(12), generator)
    with cause.mend(examination), untouched(examination):
        before = subject.answer(inputs)
        after = subject.answer(subject.replaced(inputs, slice(0, inputs.shape[1] - 1), generator))
    if not bool(before.isfinite().all()):
        return False
    # A module whose answers were no numbers has no noise floor.
    floor = examination.noise.floor
    apart = float((before[:, -1] - after[:, -1]).abs().max())
    return examination.noise.differs(before[:, -1], after[:, -1]) if math.isfinite(floor) else apart > 0


def _unconfirmed(breaches: list[Breach], ruled_out: Iterable[str] = ()) -> Iterator[Finding]:
    """Breaches that share a most probable cause become one finding. A cause whose mend mended nothing comes last."""
    groups: dict[str, list[Breach]] = defaultdict(list)
    weight: dict[str, float] = defaultdict(float)
    for breach in breaches:
        for place, name in enumerate(breach.suspects):
            weight[name] += 1 / (1 + place)
    for breach in breaches:
        open_yet = [name for name in breach.suspects if name not in ruled_out] or list(breach.suspects)
        fitting = [name for name in open_yet if CAUSES[name].fits((breach,))] or open_yet
        # The suspect that most breaches share; among equals, the one that this check puts first.
        groups[max(fitting, key=lambda name: (weight[name], -fitting.index(name)))].append(breach)
    for name, members in groups.items():
        yield _finding(CAUSES[name], tuple(members), confirmed=False)


def _finding(
    cause: Cause, breaches: tuple[Breach, ...], examination: Examination | None = None, *, confirmed: bool
) -> Finding:
    worst = min((breach.severity for breach in breaches), key=SEVERITIES.index)

    def witness(breach: Breach) -> tuple[int, bool, str]:
        """Who suspected it comes before whom it only explains."""
        return SEVERITIES.index(breach.severity), cause.name not in breach.suspects, breach.check

    ordered = tuple(sorted(breaches, key=witness))
    rivals = tuple(dict.fromkeys(name for breach in ordered for name in breach.suspects if name != cause.name))
    place = None
    if examination is not None and cause.locate is not None and not any(breach.where for breach in ordered):
        with untouched(examination):
            place = cause.locate(examination)
    return Finding(cause.name, worst, ordered, () if confirmed else rivals[:3], confirmed, place)
