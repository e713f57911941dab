"""A diagnosis in words: the lines of the terminal, and the object of `--json`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clearformer.doctor.causes.table import CAUSES
from clearformer.doctor.diagnosis import Diagnosis
from clearformer.doctor.finding import Finding, Severity
from clearformer.doctor.registry import BY_ID, CHECKS
from clearformer.messages import Language
from clearformer.messages import doctor_report as say


@dataclass(frozen=True)
class Told:
    """One finding, in one language."""

    check: str
    name: str
    law: str
    severity: Severity
    cause: str
    meaning: str
    confirmed: bool
    rivals: tuple[str, ...]
    evidence: tuple[str, ...]
    where: str | None
    fix: str


def named(finding: Told, language: Language) -> str:
    """The cause with its state, where there is a doubt that could be settled."""
    if not finding.confirmed and not finding.rivals:
        return say.NAMED_ALONE.text(language, cause=finding.cause, meaning=finding.meaning)
    state = say.CONFIRMED if finding.confirmed else say.SUSPECTED
    return say.NAMED.text(language, cause=finding.cause, state=state, meaning=finding.meaning)


def told(finding: Finding, language: Language) -> Told:
    cause = CAUSES[finding.cause]
    check = BY_ID.get(finding.check)
    return Told(
        check=finding.check,
        name="" if check is None else check.name,
        law="" if check is None else check.law.text(language),
        severity=finding.severity,
        cause=finding.cause,
        meaning=cause.meaning.text(language),
        confirmed=finding.confirmed,
        rivals=finding.rivals,
        evidence=evidence(finding, language),
        where=finding.where,
        fix=cause.fix.text(language),
    )


def evidence(finding: Finding, language: Language) -> tuple[str, ...]:
    """Each sentence once, the best witness's first; those of other checks name the check."""
    lines = []
    for breach in finding.breaches:
        start = "" if breach.check == finding.check else f"{breach.check}: "
        lines += [start + said.text(language) for said in breach.evidence]
    return tuple(dict.fromkeys(lines))


def facts(found: Diagnosis, language: Language) -> dict[str, object]:
    """What `--json` prints."""
    return {
        "healthy": found.healthy,
        "called": None if found.called is None else found.called.text(language),
        "floor": found.floor,
        "findings": [
            {
                "check": each.check,
                "severity": each.severity,
                "cause": each.cause,
                "meaning": each.meaning,
                "confirmed": each.confirmed,
                "rivals": list(each.rivals),
                "evidence": list(each.evidence),
                "where": each.where,
                "fix": each.fix,
            }
            for each in (told(finding, language) for finding in found.findings)
        ],
        "passed": [{"check": check, "law": law_of(check, language)} for check in found.passed],
        "skipped": [{"check": each.check, "why": each.why.text(language)} for each in found.skipped],
        "notes": [each.text(language) for each in found.notes],
    }


def law_of(check: str, language: Language) -> str:
    """A check's law in a sentence; nothing for one that is not known here."""
    return BY_ID[check].law.text(language) if check in BY_ID else ""


def skipped_by_reason(found: Diagnosis, language: Language) -> Iterator[tuple[str, str]]:
    """(checks, why), the checks of one reason together, in the order of the registry."""
    order = {check.id: place for place, check in enumerate(CHECKS)}
    reasons: dict[str, list[str]] = {}
    for each in sorted(found.skipped, key=lambda skipped: order.get(skipped.check, len(order))):
        reasons.setdefault(each.why.text(language), []).append(each.check)
    for why, checks in reasons.items():
        yield ", ".join(checks), why


def verdict(found: Diagnosis, language: Language) -> str:
    """The last line: how many laws hold, how many do not, what was not looked at."""
    count = {
        severity: sum(each.severity == severity for each in found.findings) for severity in ("ERROR", "WARN", "INFO")
    }
    values = {"passed": len(found.passed), "skipped": len(found.skipped), **{k.lower(): v for k, v in count.items()}}
    if not found.passed and not found.findings:
        return say.NOTHING_CHECKED.text(language, **values)
    return (say.HEALTHY if found.healthy else say.SICK).text(language, **values)
