"""Muon: momentum whose singular values are all made about one (Jordan et al. 2024, kellerjordan.github.io/posts/muon).

A gradient's large directions drown its small ones; an orthogonal update moves along all of them alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from clearformer.train.recipe import Muon

# The quintic a·s + b·s³ + c·s⁵, steepest at 0 among those that keep [0, 1] within about [0.7, 1.2].
_QUINTIC = (3.4445, -4.7750, 2.0315)


def orthogonalised(matrix: Float[Tensor, "*any rows columns"], iterations: int) -> Float[Tensor, "*any rows columns"]:
    """U·S′·Vᵀ for the matrix U·S·Vᵀ with S′ near one, by the Newton–Schulz iteration: products alone, no SVD."""
    a, b, c = _QUINTIC
    wide = matrix.shape[-2] <= matrix.shape[-1]
    x = matrix if wide else matrix.mT
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(iterations):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x if wide else x.mT


class MuonOptimizer(torch.optim.Optimizer):
    """Nesterov momentum, orthogonalised, scaled by √max(1, rows/columns); decay is decoupled.

    Weights with more than two dimensions are stacks of matrices (experts), each taken alone.
    """

    def __init__(self, weights: Iterable[nn.Parameter], choice: Muon) -> None:
        self.choice = choice
        super().__init__(weights, {"lr": choice.lr})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        assert closure is None
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    self._move(weight, group["lr"])

    def _move(self, weight: nn.Parameter, lr: float) -> None:
        assert weight.grad is not None
        state = self.state[weight]
        if not state:
            state["momentum"] = torch.zeros_like(weight)
        average = state["momentum"]
        average.lerp_(weight.grad, 1 - self.choice.momentum)
        direction = orthogonalised(weight.grad.lerp(average, self.choice.momentum), self.choice.iterations)
        rows, columns = weight.shape[-2:]
        weight.mul_(1 - lr * self.choice.weight_decay)
        weight.add_(direction, alpha=-lr * math.sqrt(max(1.0, rows / columns)))
