"""One check on parts that a test hands in: what it finds, or why it was not made."""

from __future__ import annotations

from typing import Any

from clearformer.doctor.diagnose import examine
from clearformer.doctor.parts import Parts


def causes(check: str, **parts: Any) -> list[str]:
    """The causes that a check names, with the severity: `ERROR labels shifted twice`; `-` where it was skipped."""
    diagnosis = examine(Parts(**parts), only=(check,))
    if why := [skipped.why.text() for skipped in diagnosis.skipped if skipped.check == check]:
        print(*why)
        return ["-"]
    found = [finding for finding in diagnosis.findings if check in {breach.check for breach in finding.breaches}]
    for finding in found:
        assert all(said.text("en") and said.text("zh") for breach in finding.breaches for said in breach.evidence)
    return [f"{finding.severity} {finding.cause}" for finding in found]
