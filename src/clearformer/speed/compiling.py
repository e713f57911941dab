"""torch.compile, block by block: every block of one shape shares what one compilation made."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import MethodType
from typing import Any

import torch
from torch import nn

from clearformer.layers.block import Block
from clearformer.speed.measurements import Figures, alternating

# What a compilation and its trial take, and the most that it has been seen to save: below, it is not even tried.
_LEAST_SECONDS, _MOST_SAVED = 30.0, 0.35
LEAST_GAIN = 1.03


def may_pay(step_seconds: float, steps: int) -> bool:
    """Whether compiling could save more time than it takes."""
    return step_seconds * steps * _MOST_SAVED > _LEAST_SECONDS


def pays(figures: Figures, steps: int) -> bool:
    """Whether what was measured says that a run of so many steps ends earlier compiled."""
    saved = figures["eager"] - figures["compiled"]
    return figures["eager"] > LEAST_GAIN * figures["compiled"] and saved * steps > figures["compiling"]


def time_step(step: Callable[[], object]) -> float:
    """Seconds of one step that is not the first."""
    return alternating({"eager": step}, rounds=2)["eager"]


def time_compiling(model: nn.Module, step: Callable[[], object]) -> Figures:
    """Seconds of a step as it is and compiled, and of the compilation."""
    eager = alternating({"eager": step}, rounds=3)
    with compiled(model):
        start = time.perf_counter()
        step()
        compiling = time.perf_counter() - start
        return {**eager, **alternating({"compiled": step}, rounds=3), "compiling": compiling}


@contextmanager
def compiled(model: nn.Module) -> Iterator[None]:
    """Blocks compiled until the block ends, for training alone: evaluation's batches have shapes of their own."""
    fast = torch.compile(Block.forward, dynamic=False)

    def forward(block: Block, *given: Any, **named: Any) -> Any:
        chosen = fast if block.training and torch.is_grad_enabled() else Block.forward
        return chosen(block, *given, **named)

    with ExitStack() as stack:
        for module in model.modules():
            if isinstance(module, Block):
                stack.enter_context(_forward_of(module, forward))
        yield


@contextmanager
def autocast(model: nn.Module, parts: tuple[type[nn.Module], ...], device: str) -> Iterator[None]:
    """These parts of the model compute in bfloat16 until the block ends; weights stay as they are."""

    def forward(module: nn.Module, *given: Any, **named: Any) -> Any:
        with torch.autocast(torch.device(device).type, torch.bfloat16):
            return type(module).forward(module, *given, **named)

    with ExitStack() as stack:
        for module in model.modules():
            if isinstance(module, parts):
                stack.enter_context(_forward_of(module, forward))
        yield


@contextmanager
def _forward_of(module: nn.Module, forward: Callable[..., Any]) -> Iterator[None]:
    # A bound method, so that a copy of the module runs the copy's weights.
    module.forward = MethodType(forward, module)
    try:
        yield
    finally:
        del module.forward
