"""Breaches → findings: every breach is accounted for by one cause, the surest causes first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from clearformer.doctor.causes.cause import Cause
from clearformer.doctor.causes.table import CAUSES
from clearformer.doctor.check import Check
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import SEVERITIES, Breach, Finding
from clearformer.doctor.probing import breaches_of

TRIED = 6
"""Suspects whose mend is tried for one group of breaches."""


def decide(examination: Examination, checks: dict[str, Check]) -> tuple[Finding, ...]:
    """The findings, worst first and within that confirmed first.

    The cause that most breaches suspect is tried first: its mend is applied in place and the checks are run again.
    What then holds was its doing. What no mend explains goes to its own first suspect, unconfirmed.
    """
    left = list(examination.breaches)
    findings: list[Finding] = []
    for cause in _in_order(left):
        suspected = tuple(breach for breach in left if cause.name in breach.suspects)
        if not suspected or cause.mend is None or not cause.fits(suspected):
            continue
        explained = tuple(breach for breach in left if _mended(breach, cause, examination, checks))
        if any(breach in explained for breach in suspected):
            findings.append(_finding(cause, explained, confirmed=True))
            left = [breach for breach in left if breach not in explained]
    findings.extend(_unconfirmed(left))
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
            weight[name] += 1 / (1 + place)
    names = sorted(weight, key=lambda name: -weight[name])
    return [CAUSES[name] for name in names if CAUSES[name].mend is not None][:TRIED]


def _mended(breach: Breach, cause: Cause, examination: Examination, checks: dict[str, Check]) -> bool:
    """Whether the breach is gone under the cause's mend."""
    assert cause.mend is not None
    with cause.mend(examination):
        return not any(again.severity == breach.severity for again in breaches_of(checks[breach.check], examination))


def _unconfirmed(breaches: list[Breach]) -> Iterator[Finding]:
    """Breaches that share a most probable cause become one finding."""
    groups: dict[str, list[Breach]] = defaultdict(list)
    weight: dict[str, int] = defaultdict(int)
    for breach in breaches:
        for name in breach.suspects:
            weight[name] += 1
    for breach in breaches:
        fitting = [name for name in breach.suspects if CAUSES[name].fits((breach,))] or list(breach.suspects)
        # The suspect that most breaches share; among equals, the one that this check puts first.
        groups[max(fitting, key=lambda name: (weight[name], -fitting.index(name)))].append(breach)
    for name, members in groups.items():
        yield _finding(CAUSES[name], tuple(members), confirmed=False)


def _finding(cause: Cause, breaches: tuple[Breach, ...], *, confirmed: bool) -> Finding:
    worst = min((breach.severity for breach in breaches), key=SEVERITIES.index)
    ordered = tuple(sorted(breaches, key=lambda breach: (SEVERITIES.index(breach.severity), breach.check)))
    rivals = tuple(dict.fromkeys(name for breach in ordered for name in breach.suspects if name != cause.name))
    return Finding(cause.name, worst, ordered, () if confirmed else rivals[:3], confirmed)
