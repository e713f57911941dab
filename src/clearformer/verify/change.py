"""One change to a model, and what the reference tells that may help to find it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from clearformer.messages import Message
from clearformer.spec import Spec
from clearformer.verify.ours import Suspect

FLOAT32 = float(torch.finfo(torch.float32).eps)


@dataclass(frozen=True)
class Known:
    """`clue` is the first tensor that differs; `spec` what the reference says of itself, where it does; `head` its own
    output matrix (V D), where it has one. `resolution` is the relative step of the stored numbers."""

    clue: str | None = None
    spec: Spec | None = None
    head: Tensor | None = None
    resolution: float = FLOAT32


@dataclass(frozen=True)
class Change:
    """A model that would be right if the fault is this one. `what` says the fault, filled from `values`.

    `blurred` weights were reckoned from stored ones, whose last digits they cannot have: 1 + w keeps fewer of w's.
    """

    suspect: Suspect
    what: Message
    values: Mapping[str, object] = field(default_factory=dict)
    blurred: frozenset[str] = frozenset()


def with_weights(suspect: Suspect, changed: Mapping[str, Tensor]) -> Suspect:
    return replace(suspect, weights={**suspect.weights, **changed})
