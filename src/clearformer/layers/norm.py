"""LayerNorm and RMSNorm; half-precision inputs are normalised in float32."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from clearformer.spec import LayerNorm as LayerNormSpec
from clearformer.spec import Norm as NormSpec
from clearformer.spec import RMSNorm as RMSNormSpec


def at_least_float32(x: Tensor) -> Tensor:
    """Sums of squares overflow float16 and lose bfloat16's few digits."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


class LayerNorm(nn.Module):
    """(x − mean) / √(variance + eps) · weight + bias over the last dimension (arXiv 1607.06450)."""

    def __init__(self, width: int, spec: LayerNormSpec) -> None:
        super().__init__()
        self.eps = spec.eps
        self.weight = nn.Parameter(torch.ones(width)) if spec.weight else None
        self.bias = nn.Parameter(torch.zeros(width)) if spec.bias else None

    def forward(self, x: Float[Tensor, "*any D"]) -> Float[Tensor, "*any D"]:
        return functional.layer_norm(x, x.shape[-1:], self.weight, self.bias, self.eps)


class RMSNorm(nn.Module):
    """x / √(mean(x²) + eps) · weight over the last dimension (arXiv 1910.07467)."""

    def __init__(self, width: int, spec: RMSNormSpec) -> None:
        super().__init__()
        self.eps = spec.eps
        self.unit_offset = spec.unit_offset
        self.scale_first = spec.scale_first
        self.weight = nn.Parameter(torch.zeros(width) if spec.unit_offset else torch.ones(width))

    def forward(self, x: Float[Tensor, "*any D"]) -> Float[Tensor, "*any D"]:
        weight = at_least_float32(self.weight) if self.scale_first else self.weight
        gain = 1 + weight if self.unit_offset else weight
        wide = at_least_float32(x)
        if wide is x or self.scale_first:
            return functional.rms_norm(wide, x.shape[-1:], at_least_float32(gain), self.eps).to(x.dtype)
        # Rounded to x's type before the weight, as Llama was trained.
        return functional.rms_norm(wide, x.shape[-1:], None, self.eps).to(x.dtype) * gain


def make_norm(width: int, spec: NormSpec | None) -> nn.Module:
    """The module of a norm; an empty place passes its input on."""
    match spec:
        case None:
            return nn.Identity()
        case LayerNormSpec():
            return LayerNorm(width, spec)
        case RMSNormSpec():
            return RMSNorm(width, spec)
