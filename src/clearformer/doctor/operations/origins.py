"""Which token each number belongs to: a second tensor of token numbers goes through every operation that moves numbers.

A token's number is row · 10⁴ + position, so that both can be read from it again. Exact in float64.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from clearformer.doctor.operations.operation import Operation
from clearformer.doctor.operations.trail import Trail

ROW = 10_000


def numbered(rows: int, length: int, *, batch_first: bool) -> Tensor:
    """Token numbers (B T), or (T B)."""
    numbers = torch.arange(rows, dtype=torch.float64)[:, None] * ROW + torch.arange(length, dtype=torch.float64)
    return numbers if batch_first else numbers.T


def widened(numbers: Tensor, shape: torch.Size) -> Tensor:
    """Numbers (…) spread over the last axis of `shape` (… D)."""
    return numbers.unsqueeze(-1).expand(shape)


def moved(operation: Operation, trails: dict[int, Trail], which: str) -> Any:
    """The origins after an operation that only moves numbers; None where that cannot be told."""

    def put(value: Any) -> Any:
        if isinstance(value, Tensor):
            trail = trails.get(id(value))
            if trail is not None and (known := getattr(trail, which)) is not None:
                return known
            # What has no origin beside what has one (a cache, a learned prefix) gets a number that no token has.
            return torch.full(value.shape, -1.0, dtype=torch.float64) if value.is_floating_point() else value.cpu()
        if isinstance(value, list | tuple) and any(isinstance(each, Tensor) for each in value):
            return type(value)([put(each) for each in value])
        return value

    function: Any = torch.Tensor.reshape if operation.name in {"view", "reshape"} else operation.function
    try:
        return function(*(put(each) for each in operation.args), **{k: put(v) for k, v in operation.kwargs.items()})
    except (RuntimeError, TypeError, IndexError, ValueError):
        return None


def through_product(operation: Operation, operand: Tensor, origin: Tensor) -> tuple[Tensor, bool]:
    """The origin that one operand gives to a product, and whether numbers of several tokens were summed on the way.

    The same product of the origins with ones is their mean over whatever is summed.
    """

    def asked(numbers: Tensor) -> Tensor:
        def put(value: Any) -> Any:
            if value is operand:
                return numbers
            if isinstance(value, Tensor):
                return torch.ones(value.shape, dtype=torch.float64)
            return [put(each) for each in value] if isinstance(value, list | tuple) else value

        if operation.name == "baddbmm":
            return torch.bmm(*(put(operation.argument(1 + i, name)) for i, name in enumerate(("batch1", "batch2"))))
        product: Tensor = operation.function(
            *(put(each) for each in operation.args), **{name: put(each) for name, each in operation.kwargs.items()}
        )
        return product

    count = asked(torch.ones(operand.shape, dtype=torch.float64))
    mean, square = asked(origin) / count, asked(origin**2) / count
    return mean.round(), bool((square - mean**2).abs().max() > 0.1)


def positions(origin: Tensor) -> Tensor:
    return origin % ROW


def rows(origin: Tensor) -> Tensor:
    return (origin / ROW).floor()


def constant(origin: Tensor, axis: int = -1) -> bool:
    """Whether each vector along the axis belongs to one token."""
    return bool((origin == origin.select(axis, 0).unsqueeze(axis)).all())


def in_order(numbers: Tensor) -> bool:
    """Whether numbers (n m) are those of tokens row by row, or position by position, and none twice in a line."""
    row, position = rows(numbers), positions(numbers)
    batch_first = constant(row, 1) and constant(position, 0) and bool((position.diff(dim=1) > 0).all())
    length_first = constant(row, 0) and constant(position, 1) and bool((position.diff(dim=0) > 0).all())
    return batch_first or length_first


def repeated(origin: Tensor, axis: int) -> bool:
    """Whether a token occurs twice along an axis. Numbers that no token has (a cache) are left out."""
    ordered = origin.sort(dim=axis).values
    same = ordered.diff(dim=axis) == 0
    known = ordered.narrow(axis, 1, ordered.shape[axis] - 1) >= 0
    return bool((same & known).any())
