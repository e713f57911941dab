"""A check: one law, how it is probed, and when an alarm would be false."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clearformer.doctor.finding import Breach, Said
from clearformer.doctor.parts import KINDS, Kind
from clearformer.messages import Message

if TYPE_CHECKING:
    from clearformer.doctor.examination import Examination


class NotApplicable(Exception):  # noqa: N818 – an answer, not an error
    """Raised by a probe that this model gives no chance to fail: the reason becomes a line under "not checked"."""

    def __init__(self, message: Message, **values: object) -> None:
        self.why = Said(message, values)
        super().__init__(message.en)


@dataclass(frozen=True)
class Check:
    """`probe` yields a breach for each way in which the law does not hold, or raises NotApplicable."""

    id: str
    """`K01` … `K38`, as in `docs/doctor.md`."""
    name: str
    law: Message
    risk: Message
    """When an alarm of this check would be false, and how the check guards against that."""
    probe: Callable[[Examination], Iterator[Breach]]
    needs: tuple[str, ...] = ("model",)
    """Fields of `Parts` without which there is nothing to probe."""
    kinds: tuple[Kind, ...] = KINDS
    quick: bool = True
    """Whether it is part of `--quick`."""
    gate: bool = False
    """Where it finds an error, the other checks of the module would only echo it, and are skipped."""
    closes: bool = False
    """As `gate`, for the checks behind it alone: it keeps its place."""
    uncalled: bool = False
    """Whether it is made of a module that could not be called, too: it then finds `subject` None and the reason in
    `examination.uncalled`."""
