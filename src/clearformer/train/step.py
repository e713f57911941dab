"""One update: the gradient of the mean loss over everything real in its batches, whatever their number and padding."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.train.task import Task


@dataclass(frozen=True)
class Gradient:
    """Mean loss in nats over `units`, and the gradient's norm before clipping."""

    loss: float
    units: int
    norm: float

    @property
    def finite(self) -> bool:
        return math.isfinite(self.loss) and math.isfinite(self.norm)


def gradient(task: Task[Any], model: Any, batches: Sequence[Any], clip: float | None) -> Gradient:
    """Fill the gradients with those of Σ totals / Σ units over the batches, shortened to `clip` at most."""
    units = sum(task.units(batch) for batch in batches)
    loss = 0.0
    for batch in batches:
        share = task.loss(model, batch).total / max(units, 1)
        share.backward()
        loss += share.item()
    return Gradient(loss, units, shorten(model.parameters(), clip))


def shorten(weights: Iterable[nn.Parameter], longest: float | None) -> float:
    """Scale the gradients to a common norm of at most `longest`; gives the norm before (arXiv 1211.5063 §3.2)."""
    gradients = [weight.grad for weight in weights if weight.grad is not None]
    norm: Tensor = nn.utils.get_total_norm(gradients)
    if longest is not None and (length := norm.item()) > longest and math.isfinite(length):
        torch._foreach_mul_(gradients, longest / length)
    return norm.item()


def all_finite(weights: Iterable[Tensor]) -> bool:
    return all(bool(weight.isfinite().all()) for weight in weights)


def to_device(batch: Any, device: torch.device | str) -> Any:
    """A batch (a NamedTuple of tensors) on the device."""
    moved = (field.to(device) if isinstance(field, Tensor) else field for field in batch)
    return type(batch)(*moved) if hasattr(batch, "_fields") else tuple(moved)
