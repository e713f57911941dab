"""Attention scores made as large as training can make them: a mask that only fills in a number gives way."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from clearformer.doctor.operations.following import Followed
from clearformer.doctor.operations.operation import PRODUCTS, Operation

REACHED = 3e4
"""The largest score. Fills of -1e4 lie within reach; half precision's lowest number, -65504, does not."""


@dataclass
class Amplifier:
    """Queries are multiplied so that the first pass's largest score becomes `REACHED`; later passes as the first was.

    The same for every input, so what moves an output is still only what it reads. Queries and keys that are normalised
    keep their size: they cannot grow in training either.
    """

    factors: list[float] = field(default_factory=list)
    at: int = 0

    def begin(self) -> None:
        """Another forward pass."""
        self.at = 0

    def edited(self, operation: Operation, known: Followed) -> Operation:
        if operation.name == "fused attention":
            query, key = operation.argument(0, "query"), operation.argument(1, "key")
            if _normed(known, query, key):
                return operation
            scale = operation.kwargs.get("scale") or query.shape[-1] ** -0.5
            heads = query.shape[-3] // key.shape[-3] if operation.kwargs.get("enable_gqa") else 1
            largest = float(_largest(query, key, heads)) * scale
            return operation.with_argument(0, "query", self._grown(query, largest, known))
        if operation.name not in PRODUCTS:
            return operation
        pair = [each for each in operation.operands() if (trail := known.of(each)) and trail.role == "plain"]
        pair = pair[-2:]
        if len(pair) != 2 or _normed(known, *pair):
            return operation
        if any((trail := known.of(each)) and trail.role != "plain" for each in operation.operands()):
            return operation
        product: Tensor = operation()
        grown = self._grown(pair[0], float(product.abs().max()) * pair[0].shape[-1] ** -0.5, known)
        args = tuple(_swapped(each, pair[0], grown) for each in operation.args)
        return replace(
            operation, args=args, kwargs={k: _swapped(v, pair[0], grown) for k, v in operation.kwargs.items()}
        )

    def _grown(self, query: Tensor, largest: float, known: Followed) -> Tensor:
        if self.at == len(self.factors):
            self.factors.append(max(REACHED / max(largest, 1e-12), 1.0))
        grown = query * self.factors[self.at]
        self.at += 1
        if (trail := known.of(query)) is not None:
            known.put(grown, trail)
        return grown


def _largest(query: Tensor, key: Tensor, heads: int) -> Tensor:
    if heads > 1:
        key = key.repeat_interleave(heads, -3)
    return torch.matmul(query, key.transpose(-2, -1)).abs().amax()


def _swapped(value: object, old: Tensor, new: Tensor) -> object:
    if value is old:
        return new
    return [_swapped(each, old, new) for each in value] if isinstance(value, list) else value


def _normed(known: Followed, *pair: Tensor) -> bool:
    return any((trail := known.of(each)) is not None and trail.normed for each in pair)
