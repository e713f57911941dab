"""A cause: what is wrong, how it is mended in one line, and the experiment that tells it from its rivals."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clearformer.doctor.finding import Breach
from clearformer.messages import Message

if TYPE_CHECKING:
    from clearformer.doctor.examination import Examination
    from clearformer.doctor.operations.tracker import Tracker

Mend = Callable[["Examination"], AbstractContextManager["Tracker | None"]]
"""Within the context the module behaves as if it were mended. A tracker tells whether there was anything to mend."""


@dataclass(frozen=True)
class Cause:
    """`name` is stable and printed: "mask inverted"."""

    name: str
    meaning: Message
    fix: Message
    """One line: what to write instead."""
    mend: Mend | None = None
    """The hypothetical mend in place; None where nothing can be mended from outside."""
    fits: Callable[[tuple[Breach, ...]], bool] = lambda breaches: True
    """False where the signs of the breaches speak against it."""
    general: bool = False
    """Its mend would also mend what other causes did: it is tried after them."""
    locate: Callable[[Examination], str | None] | None = None
    """Where in the module it lies, where no breach says so."""
