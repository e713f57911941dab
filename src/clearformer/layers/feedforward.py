"""What each position computes alone: two matrices, or a gated pair."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from clearformer.layers.dropout import Dropout
from clearformer.layers.frame import Frame
from clearformer.spec import Activation
from clearformer.spec import Dense as DenseSpec
from clearformer.spec import Gated as GatedSpec
from clearformer.taps import OFF, Tap


def quick_gelu(x: Tensor) -> Tensor:
    """x · σ(1.702 x), CLIP's approximation of GELU (Hendrycks and Gimpel 2016, arXiv 1606.08415)."""
    return x * torch.sigmoid(1.702 * x)


def gelu_tanh(x: Tensor) -> Tensor:
    """GELU by its tanh approximation (GPT-2)."""
    return functional.gelu(x, approximate="tanh")


def activation(name: Activation) -> Callable[[Tensor], Tensor]:
    """The function of a name in the spec."""
    functions: dict[Activation, Callable[[Tensor], Tensor]] = {
        "relu": functional.relu,
        "gelu": functional.gelu,
        "gelu_tanh": gelu_tanh,
        "quick_gelu": quick_gelu,
        "silu": functional.silu,
        "tanh": torch.tanh,
    }
    return functions[name]


class Dense(nn.Module):
    """activation(x W_up + b) W_down + b (Vaswani et al. 2017 §3.3)."""

    def __init__(self, width: int, spec: DenseSpec) -> None:
        super().__init__()
        self.up = nn.Linear(width, spec.width, bias=spec.bias)
        self.down = nn.Linear(spec.width, width, bias=spec.bias)
        self.activation = activation(spec.activation)
        self.dropout = Dropout(spec.dropout)

    def forward(self, x: Float[Tensor, "*any D"], frame: Frame, tap: Tap = OFF) -> Float[Tensor, "*any D"]:
        hidden = tap("hidden", self.dropout(self.activation(self.up(x))))
        return tap("output", self.down(hidden))


class Gated(nn.Module):
    """(activation(x W_gate) ⊙ x W_up) W_down; SwiGLU with silu (Shazeer 2020, arXiv 2002.05202)."""

    def __init__(self, width: int, spec: GatedSpec) -> None:
        super().__init__()
        self.gate = nn.Linear(width, spec.width, bias=spec.bias)
        self.up = nn.Linear(width, spec.width, bias=spec.bias)
        self.down = nn.Linear(spec.width, width, bias=spec.bias)
        self.activation = activation(spec.activation)
        self.dropout = Dropout(spec.dropout)

    def forward(self, x: Float[Tensor, "*any D"], frame: Frame, tap: Tap = OFF) -> Float[Tensor, "*any D"]:
        gate, up = self.project(x)
        gate = tap("gate", self.activation(gate))
        hidden = tap("hidden", self.dropout(gate * up))
        return tap("output", self.down(hidden))

    def project(self, x: Float[Tensor, "*any D"]) -> tuple[Float[Tensor, "*any F"], Float[Tensor, "*any F"]]:
        """Both wide projections, before the activation."""
        return self.gate(x), self.up(x)
