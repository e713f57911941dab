"""Sines and cosines of the position, added to the input (Vaswani et al. 2017 §3.5, arXiv 1706.03762)."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from clearformer.spec import Sinusoidal as SinusoidalSpec


def sinusoids(
    positions: Int[Tensor, "B T"], width: int, *, base: float = 10000.0, interleaved: bool = True
) -> Float[Tensor, "B T D"]:
    """PE(pos, 2i) = sin(pos / base^(2i/D)) and PE(pos, 2i+1) = cos(…); without `interleaved`, all sines first."""
    pair = torch.arange(0, width, 2, dtype=torch.float64, device=positions.device)
    angle = positions[..., None] * base ** (-pair / width)
    stacked = (angle.sin(), angle.cos())
    return torch.stack(stacked, -1).flatten(-2) if interleaved else torch.cat(stacked, -1)


class Sinusoidal(nn.Module):
    """The encoding as a module without weights."""

    def __init__(self, width: int, spec: SinusoidalSpec) -> None:
        super().__init__()
        self.width = width
        self.base = spec.base
        self.interleaved = spec.layout == "interleaved"

    def forward(self, positions: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        return sinusoids(positions, self.width, base=self.base, interleaved=self.interleaved)
