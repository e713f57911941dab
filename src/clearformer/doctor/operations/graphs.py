"""What a backward pass would reach: the leaves of the graph behind an output, and what a forward pass reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from clearformer.doctor.operations.operation import Operation, name_of


class Readings(TorchFunctionMode):
    """Notes every tensor that an operation is handed, and whether any ran with gradients switched off."""

    def __init__(self) -> None:
        super().__init__()
        self.read: set[int] = set()
        self.without_graph = False

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        operation = Operation(name_of(function), function, tuple(args), kwargs or {})
        # Asking a tensor for its shape or its type reads nothing of it.
        if getattr(function, "__name__", "") != "__get__":
            self.read |= {id(each) for each in operation.operands()}
            self.without_graph |= not torch.is_grad_enabled()
        return operation()


def tensors(value: Any, depth: int = 0) -> Iterator[Tensor]:
    """The tensors in an output, whatever it is made of."""
    if isinstance(value, Tensor):
        yield value
    elif depth < 4 and isinstance(value, dict):
        for each in value.values():
            yield from tensors(each, depth + 1)
    elif depth < 4 and isinstance(value, list | tuple):
        for each in value:
            yield from tensors(each, depth + 1)
    elif depth < 4 and hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from tensors(getattr(value, name, None), depth + 1)


def leaves(output: Any) -> dict[int, Tensor]:
    """Every leaf of the graph behind an output, by identity."""
    found: dict[int, Tensor] = {}
    waiting: list[Any] = [each.grad_fn for each in tensors(output) if each.grad_fn is not None]
    seen: set[Any] = set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if isinstance(variable, Tensor):
            found[id(variable)] = variable
        waiting.extend(following for following, _ in node.next_functions)
    return found


def holder(module: nn.Module, tensor: Tensor) -> str | None:
    """The attribute that holds a tensor which is not registered: `blocks[0].attention.query.weight`."""
    for path, owner in module.named_modules():
        for name, value in vars(owner).items():
            if name.startswith("_"):
                continue
            place = _within(value, tensor)
            if place is not None:
                return ".".join(part for part in (path, name) if part) + place
    return None


def _within(value: Any, tensor: Tensor, depth: int = 0) -> str | None:
    if value is tensor:
        return ""
    if isinstance(value, nn.Module):
        return next((f".{name}" for name, each in value.named_parameters() if each is tensor), None)
    if depth < 3 and isinstance(value, list | tuple | dict):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in pairs:
            place = _within(each, tensor, depth + 1)
            if place is not None:
                return f"[{key!r}]{place}"
    return None


def backward(output: Any, generator: torch.Generator) -> None:
    """A backward pass from every number of an output, each with a weight of its own: none cancel."""
    total = torch.zeros(())
    for each in tensors(output):
        if each.is_floating_point() and each.requires_grad:
            weight = torch.randn(each.shape, generator=generator).to(each)
            total = total + (each * weight).sum().float().cpu()
    if total.requires_grad:
        total.backward()
