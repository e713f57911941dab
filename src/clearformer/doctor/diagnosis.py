"""The result: what was found, what was not checked, and how the module was called."""

from __future__ import annotations

from dataclasses import dataclass

from clearformer.doctor.finding import Finding, Said, Skipped
from clearformer.errors import DiagnosisError
from clearformer.messages import doctor as say


@dataclass(frozen=True)
class Diagnosis:
    """Findings, worst and surest first."""

    findings: tuple[Finding, ...]
    skipped: tuple[Skipped, ...]
    passed: tuple[str, ...]
    """The checks whose laws held."""
    called: Said | None = None
    """How the module is called, in words."""
    floor: float | None = None
    """The measured noise floor, in units of the output."""
    notes: tuple[Said, ...] = ()
    """What happened beside: a process that ended in between, output that was cut."""

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "ERROR")

    @property
    def healthy(self) -> bool:
        """No ERROR."""
        return not self.errors

    def raise_for_errors(self) -> None:
        """Raises DiagnosisError, with the first finding's cause and mend, where there is an ERROR."""
        if self.errors:
            first = self.errors[0]
            evidence = "; ".join(said.text() for said in first.breaches[0].evidence)
            raise DiagnosisError(say.NOT_HEALTHY, cause=first.cause, count=len(self.errors), evidence=evidence)
