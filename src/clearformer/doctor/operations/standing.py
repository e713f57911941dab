"""At which position a token stands that is read behind a cache: seen from its query beside those of one pass."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from clearformer.doctor.calling.caches import Reading
from clearformer.doctor.calling.subject import Subject
from clearformer.doctor.operations.operation import PRODUCTS, Operation, name_of

NEAR = 1e-3
"""Of the largest number: two queries that close are one."""


class _Queries(TorchFunctionMode):
    """Keeps the first operand of every product and of every fused attention, in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Tensor] = []

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        operation = Operation(name_of(function), function, tuple(args), kwargs or {})
        if operation.name in PRODUCTS or operation.name == "fused attention":
            first = next(operation.operands(), None)
            if first is not None and first.ndim > 2:
                self.found.append(first.detach())
        return operation()


def standing(subject: Subject, prompt: int) -> int | None:
    """The position at which the step behind a prompt of one token, repeated, stands; None where it cannot be told."""
    length = subject.length(2 * prompt + 3)
    one = subject.inputs(1, 1, torch.Generator().manual_seed(5))
    inputs = one.expand(2, length).contiguous()
    whole, step = _Queries(), _Queries()
    with whole:
        subject.answer(inputs)
    reading = Reading(subject, 2)
    reading.read(inputs[:, :prompt])
    with step:
        reading.read(inputs[:, prompt : prompt + 1])
    for every, single in zip(whole.found, step.found, strict=False):
        at = _place_of(single, every, length)
        if at is not None:
            return at
    return None


def _place_of(single: Tensor, every: Tensor, length: int) -> int | None:
    """Which of the places along the one axis that differs is the single one; None where all of them are alike."""
    if single.ndim != every.ndim:
        return None
    axes = [axis for axis, (one, many) in enumerate(zip(single.shape, every.shape, strict=True)) if one != many]
    if len(axes) != 1 or (single.shape[axes[0]], every.shape[axes[0]]) != (1, length):
        return None
    scale = NEAR * max(float(every.abs().max()), 1e-9)
    apart = (every - single).abs().movedim(axes[0], 0).flatten(1).amax(1)
    alike = (apart < scale).nonzero().flatten().tolist()
    return int(alike[0]) if len(alike) == 1 else None
