"""What happens during training, told to whoever watches: the loop yields these and prints nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from clearformer.messages import Message
from clearformer.train.task import Sample


@dataclass(frozen=True)
class Stepped:
    """One update. `loss` is its mean over real units, in nats; `mfu` the share of the measured matrix peak if known."""

    step: int
    steps: int
    loss: float
    lr: float
    grad_norm: float
    units: int
    units_per_s: float
    mfu: float | None
    memory: int
    """Peak resident memory of the process, in bytes."""
    eta_s: float


@dataclass(frozen=True)
class Evaluated:
    """Figures on the validation split; `best` says that none was better before."""

    step: int
    metrics: Mapping[str, float]
    best: bool


@dataclass(frozen=True)
class Sampled:
    """What the model writes or predicts now."""

    step: int
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class Saved:
    """A state from which training resumes lies on the disk."""

    step: int
    path: Path


@dataclass(frozen=True)
class Noted:
    """Something that the user should know: a choice made by measurement, a skipped step, a state that was damaged."""

    message: Message
    values: Mapping[str, object]
    warning: bool = False


@dataclass(frozen=True)
class Stopped:
    """The end. `reason`: all steps made, patience lost, or the signal that asked for it."""

    step: int
    reason: Literal["done", "patience", "SIGINT", "SIGTERM", "SIGUSR1"]


Event = Stepped | Evaluated | Sampled | Saved | Noted | Stopped
