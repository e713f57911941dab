"""The switch: float32 products sent to oneDNN. On some processors twice as fast and as exact; on others neither.

torch names it bfloat16 precision, and where the processor multiplies bfloat16 natively it may be just that. So it is
turned only after its error was measured against float64, and its time against the default's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.nn import functional

from clearformer.speed.measurements import Figures, alternating

Product = tuple[int, int, int]
"""Rows, inputs, outputs."""

Operands = tuple[Tensor, Tensor, Tensor]

LARGEST_ERROR = 2e-6
"""Of a product, relative to its norm: float32 stays below, bfloat16 is a thousand times above."""
LEAST_GAIN = 1.05
_PROBED = (96, 160, 224)


@contextmanager
def switched(on: bool) -> Iterator[None]:
    """float32 products by oneDNN until the block ends; what was set before is restored."""
    settings = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]
    before = settings.fp32_precision
    try:
        if on:
            settings.fp32_precision = "bf16"
        yield
    finally:
        settings.fp32_precision = before


def probe(products: list[Product]) -> Figures:
    """The largest relative error of the switched products, forward and backward, single and batched."""
    error = 0.0
    with switched(True):
        for rows, inputs, outputs in [_PROBED, *products]:
            x, weight, _ = operands((min(rows, 512), inputs, outputs))
            y = functional.linear(x, weight)
            pull = torch.ones_like(y).add(y.detach(), alpha=0.1)
            found = (y.detach(), *torch.autograd.grad(y, (x, weight), pull))
            exact, left, right = pull.double(), x.detach().double(), weight.detach().double()
            expected = (left @ right.T, exact @ right, exact.T @ left)
            error = max([error, *(relative(a, b) for a, b in zip(found, expected, strict=True))])
        batch = torch.randn(4, 48, 80, generator=torch.Generator().manual_seed(1))
        error = max(error, relative(batch @ batch.mT, batch.double() @ batch.double().mT))
    return {"error": error}


def gain(products: list[tuple[Product, int]]) -> Figures:
    """Seconds of these products (each so many times), forward and backward, by default and switched."""

    def work(on: bool) -> Callable[[], None]:
        def run() -> None:
            with switched(on):
                multiply_all(prepared)

        return run

    prepared = [(operands(product), count) for product, count in products]
    return alternating({"default": work(False), "switched": work(True)})


def operands(product: Product, dtype: torch.dtype = torch.float32, device: str = "cpu") -> Operands:
    """An input, a weight and a gradient of their product."""
    rows, inputs, outputs = product
    generator = torch.Generator().manual_seed(0)
    x, weight, pull = (
        torch.randn(shape, generator=generator).to(device, dtype)
        for shape in ((rows, inputs), (outputs, inputs), (rows, outputs))
    )
    return x.requires_grad_(), weight.requires_grad_(), pull


def multiply_all(prepared: list[tuple[Operands, int]]) -> None:
    """The linear layers' part of a step, forward and backward, each as often as it is counted."""
    for (x, weight, pull), count in prepared:
        for _ in range(count):
            torch.autograd.grad(functional.linear(x, weight), (x, weight), pull)


def relative(found: Tensor, expected: Tensor) -> float:
    return float((found.double() - expected).norm() / expected.norm())
