"""What the doctor says of each case of the corpus, and how good that is."""

from __future__ import annotations

import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from clearformer.doctor import diagnose
from doctor.corpus.case import Case, Unavailable

ALARMS = ("ERROR", "WARN")


@dataclass(frozen=True)
class Outcome:
    """`named` are the findings as (cause, severity, check), in the doctor's order."""

    case: Case
    named: tuple[tuple[str, str, str], ...] = ()
    seconds: float = 0.0
    raised: str = ""
    unavailable: str = ""
    skipped: dict[str, str] = field(default_factory=dict)

    @property
    def detected(self) -> bool:
        """An alarm, or the right cause named at whatever severity."""
        return any(severity in ALARMS or cause in self.case.causes for cause, severity, _ in self.named)

    @property
    def right(self) -> bool:
        """The right cause stands first."""
        return bool(self.named) and self.named[0][0] in self.case.causes

    def alarmed(self, severity: str) -> bool:
        return any(each == severity for _, each, _ in self.named)


@dataclass(frozen=True)
class Score:
    """Shares of the cases that could be run here."""

    outcomes: tuple[Outcome, ...]

    @property
    def faulty(self) -> list[Outcome]:
        return [each for each in self.outcomes if not each.case.healthy and not each.unavailable]

    @property
    def healthy(self) -> list[Outcome]:
        return [each for each in self.outcomes if each.case.healthy and not each.unavailable]

    @property
    def detection(self) -> float:
        return _share(each.detected for each in self.faulty)

    @property
    def right_first(self) -> float:
        return _share(each.right for each in self.faulty)

    @property
    def false_errors(self) -> list[Outcome]:
        return [each for each in self.healthy if each.alarmed("ERROR") or each.raised]

    @property
    def false_warnings(self) -> float:
        return _share(each.alarmed("WARN") for each in self.healthy)


def _share(held: Iterable[bool]) -> float:
    told = list(held)
    return sum(told) / max(1, len(told))


def judged(case: Case) -> Outcome:
    """One case through the whole diagnosis; what it prints and warns of is not ours."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            try:
                diagnosis = diagnose(**case.parts(Path(folder)))
            except Unavailable as error:
                return Outcome(case, unavailable=str(error))
            except Exception:
                return Outcome(case, seconds=time.perf_counter() - start, raised=traceback.format_exc())
    named = tuple((finding.cause, finding.severity, finding.check) for finding in diagnosis.findings)
    skipped = {each.check: each.why.text() for each in diagnosis.skipped}
    return Outcome(case, named, time.perf_counter() - start, skipped=skipped)


def score(cases: Sequence[Case], told: Callable[[Outcome], None] = lambda outcome: None) -> Score:
    """All of them in turn; `told` hears each as it is done."""
    outcomes = []
    for case in cases:
        outcome = judged(case)
        told(outcome)
        outcomes.append(outcome)
    return Score(tuple(outcomes))
