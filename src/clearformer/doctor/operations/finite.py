"""A module whose numbers are all finite: what it would answer if those that are none had been drawn anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from clearformer.doctor.operations.graphs import tensors

if TYPE_CHECKING:
    from clearformer.doctor.examination import Examination

SPREAD = 0.02
"""Of what is drawn in place of a number that is none: the usual spread of fresh weights."""


@contextmanager
def finite_again(examination: Examination) -> Iterator[None]:
    """Numbers that are not finite are drawn within, and are put back as they were."""
    module, generator = examination.asked.module, examination.generator()
    kept: list[tuple[Tensor, Tensor]] = []
    with torch.no_grad():
        for each in chain(module.parameters(), module.buffers()):
            wrong = not_numbers(each)
            if bool(wrong.any()):
                kept.append((each, each.detach().clone()))
                drawn = SPREAD * torch.randn(each.shape, generator=generator)
                each.copy_(torch.where(wrong, drawn.to(each), each))
    try:
        yield
    finally:
        with torch.no_grad():
            for each, numbers in kept:
                each.copy_(numbers)


def not_numbers(numbers: Tensor) -> Tensor:
    """Where a parameter is not finite. A buffer may hold the infinities of a mask: there only NaN is wrong."""
    if not numbers.is_floating_point():
        return torch.zeros_like(numbers, dtype=torch.bool)
    return ~numbers.detach().isfinite() if isinstance(numbers, nn.Parameter) else numbers.isnan()


def first_not_finite(module: nn.Module, ask: Callable[[], object]) -> str | None:
    """The path of the first submodule that makes numbers which are none of numbers that are some."""
    found: list[str] = []
    handles = []
    for name, each in module.named_modules():

        def left(_: nn.Module, args: object, output: object, name: str = name) -> None:
            if not found and not _finite(output) and _finite(args):
                found.append(name)

        handles.append(each.register_forward_hook(left))
    try:
        ask()
    finally:
        for handle in handles:
            handle.remove()
    return (found[0] or None) if found else None


def _finite(value: object) -> bool:
    return all(bool(each.isfinite().all()) for each in tensors(value) if each.is_floating_point())
