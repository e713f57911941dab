"""What an experiment is: arms that differ in one thing, what is measured of each, and what a source says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from clearformer.messages import Message

BUDGET_S = 180.0
SEEDS = 5
Points = tuple[Sequence[float], Sequence[float]]
"""Abscissae and ordinates of one curve."""


@dataclass(frozen=True)
class Figure:
    """A number that every trial gives. `form` is how it is printed (Python's format language)."""

    name: str
    label: Message
    higher_is_better: bool = False
    form: str = ".3f"


@dataclass(frozen=True)
class Curve:
    """A curve that every trial gives, by the name under which its `Outcome` holds it."""

    name: str
    x: Message
    y: Message
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Claim:
    """What a source says: one arm's figure is above another's. Whether it is so here is measured."""

    says: Message
    above: str
    below: str
    figure: str


@dataclass(frozen=True)
class Outcome:
    """What one trial measured; `diverged` where its numbers ceased to be finite, and it then has no figures."""

    figures: Mapping[str, float] = field(default_factory=dict)
    curves: Mapping[str, Points] = field(default_factory=dict)
    diverged: bool = False


@dataclass(frozen=True)
class Price:
    """Seconds of a trial: what it takes beside its steps, and each step."""

    fixed_s: float
    step_s: float

    def of(self, steps: int) -> float:
        return self.fixed_s + steps * self.step_s


@dataclass(frozen=True)
class Trial:
    """One arm with one seed. `data` is a folder shared by all trials, `scratch` this one's own, kept if it is cut off.

    `tell` is called with the steps made so far.
    """

    seed: int
    steps: int
    threads: int
    data: Path
    scratch: Path
    tell: Callable[[int], None] = lambda step: None


class Arm(Protocol):
    """One of the things compared. `name` is its own in files and JSON; the same seed means the same random numbers."""

    @property
    def name(self) -> str: ...
    @property
    def label(self) -> Message: ...

    def described(self) -> str:
        """All that a trial depends on beside its seed and steps: trials of another description do not compare."""

    def facts(self, data: Path) -> Mapping[str, int]:
        """Whole numbers that are known before anything is run: `parameters`, `active_parameters`, and others."""

    def step_seconds(self, trial: Trial, seconds: float) -> float:
        """What a step takes on this machine, timed for about so many seconds once all is warm."""

    def measure(self, trial: Trial) -> Outcome:
        """Run one trial; again in the same scratch folder, it goes on where it was cut off."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Arms on the same data with the same seeds, and equally many steps each.

    `figure` decides, and every arm measures it; `further` are shown beside it, where an arm has them. `equal` names
    facts in which all arms must agree. `alone` runs one trial at a time: what is timed must not share the machine.
    `steps` fixes the steps and leaves the budget aside.
    """

    name: str
    title: Message
    about: Message
    arms: tuple[Arm, ...]
    figure: Figure
    further: tuple[Figure, ...] = ()
    curves: tuple[Curve, ...] = ()
    equal: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    alone: bool = False
    seeds: int = SEEDS
    budget: float = BUDGET_S
    steps: int | None = None

    def arm(self, name: str) -> Arm:
        return next(arm for arm in self.arms if arm.name == name)

    @property
    def figures(self) -> tuple[Figure, ...]:
        return (self.figure, *self.further)
