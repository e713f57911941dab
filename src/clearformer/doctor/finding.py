"""What the doctor says: a law that did not hold, what it was probably caused by, and what was not looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from clearformer.messages import Language, Message

Severity = Literal["ERROR", "WARN", "INFO"]
"""ERROR: a law that the user declared, or that the declared architecture has, is broken. WARN: a convention is.
INFO: true, and possibly meant."""

SEVERITIES: tuple[Severity, ...] = ("ERROR", "WARN", "INFO")
"""Worst first."""


@dataclass(frozen=True)
class Said:
    """A sentence with its values, in whichever language is asked for later."""

    message: Message
    values: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    def text(self, language: Language = "en") -> str:
        return self.message.text(language, **self.values)


@dataclass(frozen=True)
class Breach:
    """One law that one check saw broken.

    `suspects` are the causes that this check by itself would name, most probable first: names from `causes/`.
    `signs` are the facts by which causes are told apart ("reaches ahead": 1, "operation": "softmax", "axis": -2).
    """

    check: str
    severity: Severity
    evidence: tuple[Said, ...]
    suspects: tuple[str, ...]
    where: str | None = None
    """Module path and source line, where they can be known: `layers.0.attention (my_model.py:41)`."""
    signs: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    law: str = ""
    """Which of the check's laws it is, where the check has several."""


@dataclass(frozen=True)
class Finding:
    """A named cause, and every breach that it accounts for."""

    cause: str
    severity: Severity
    breaches: tuple[Breach, ...]
    rivals: tuple[str, ...] = ()
    """Causes that would look alike, most probable first, that no experiment has ruled out."""
    confirmed: bool = False
    """With the hypothetical mend applied in place, the laws held again."""
    place: str | None = None
    """Where it lies, where the cause itself could be located."""

    @property
    def check(self) -> str:
        """The check that is the best witness: the first."""
        return self.breaches[0].check

    @property
    def where(self) -> str | None:
        return next((breach.where for breach in self.breaches if breach.where is not None), self.place)


@dataclass(frozen=True)
class Skipped:
    """A check that was not made, and why."""

    check: str
    why: Said
