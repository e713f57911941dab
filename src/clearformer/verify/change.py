"""One change to a model, and what the reference tells that may help to find it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from torch import Tensor

from clearformer.messages import Message
from clearformer.spec import Spec
from clearformer.verify.ours import Suspect


@dataclass(frozen=True)
class Known:
    """`clue` is the first tensor that differs; `spec` what the reference says of itself, where it does; `head` its own
    output matrix (V D), where it has one."""

    clue: str | None = None
    spec: Spec | None = None
    head: Tensor | None = None


@dataclass(frozen=True)
class Change:
    """A model that would be right if the fault is this one. `what` says the fault, filled from `values`."""

    suspect: Suspect
    what: Message
    values: Mapping[str, object] = field(default_factory=dict)


def with_weights(suspect: Suspect, changed: Mapping[str, Tensor]) -> Suspect:
    return replace(suspect, weights={**suspect.weights, **changed})
