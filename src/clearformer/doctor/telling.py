"""What an examination tells whoever watches: enough to say how it stood, should it not come to an end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clearformer.doctor.finding import Breach, Said


@dataclass(frozen=True)
class Called:
    """The module answers, and this is how it is called."""

    how: Said
    floor: float | None


@dataclass(frozen=True)
class Starting:
    """A check begins; `done` of `total` lie behind."""

    check: str
    done: int
    total: int


@dataclass(frozen=True)
class Checked:
    """A check came to its end: `breaches`, or none; or it was not made, and `skipped` says why."""

    check: str
    breaches: tuple[Breach, ...] = ()
    skipped: Said | None = None


@dataclass(frozen=True)
class Deciding:
    """All checks are made; experiments now tell the causes apart."""


Told = Called | Starting | Checked | Deciding
Teller = Callable[[Told], None]
