"""Faults that are no architecture and that no spec can therefore say: put into a model from outside, by its taps.

Each changes what flows at named points, in training and in use alike; the layers know nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from clearformer.layers.stack import Stack
from clearformer.model import Model
from clearformer.spec import Parallel
from clearformer.taps import OFF, Listening, Tap

Fault = Callable[[Model], None]
Listener = Callable[[str, Tensor], Tensor | None]


def no_mask(model: Model) -> None:
    """Every query sees every key: where hidden scores should be −∞, the scores stand as they were."""

    def listener() -> Listener:
        open_scores: dict[str, Tensor] = {}

        def listen(name: str, value: Tensor) -> Tensor | None:
            attention, _, point = name.rpartition(".")
            if point == "scores":
                open_scores[attention] = value
                return None
            return open_scores.pop(attention)

        return listen

    _overhear(model, listener, "**.scores", "**.masked_scores")


def no_residual(model: Model) -> None:
    """x = f(norm(x)) for x = x + f(norm(x)): what was added is taken away again, and its gradient with it."""
    for stack in (module for module in model.modules() if isinstance(module, Stack)):
        assert not any(isinstance(block.arrangement, Parallel) for block in stack.spec.blocks)

    def listener() -> Listener:
        stream: list[Tensor] = []

        def listen(name: str, value: Tensor) -> Tensor | None:
            alone = value - stream.pop() if stream and not name.endswith("embed") else value
            stream[:] = [alone]
            return None if alone is value else alone

        return listen

    _overhear(model, listener, "**.embed", "**.*_sum")


def _overhear(model: nn.Module, make: Callable[[], Listener], *patterns: str) -> None:
    """Hand a listener of its own to every pass of every stack, unless somebody listens already."""

    def hook(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        given: Tap = kwargs.pop("tap") if "tap" in kwargs else args[3] if len(args) > 3 else OFF
        assert not given.on, "a faulty model has no second listener"
        return args[:3], {**kwargs, "tap": Listening(make(), "stack", patterns)}

    for module in model.modules():
        if isinstance(module, Stack):
            module.register_forward_pre_hook(hook, with_kwargs=True)
