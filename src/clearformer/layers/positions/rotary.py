"""Queries and keys turned by their position, so that scores see distances (Su et al. 2021, arXiv 2104.09864)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from clearformer.layers.positions.rope_scaling import frequencies
from clearformer.spec import Layout
from clearformer.spec import Rotary as RotarySpec


@dataclass(frozen=True)
class Rotation:
    """Cosines and sines of every position's angles, for one forward pass."""

    cos: Float[Tensor, "#B 1 T half"]
    sin: Float[Tensor, "#B 1 T half"]
    layout: Layout

    def turn(self, x: Float[Tensor, "B heads T K"]) -> Float[Tensor, "B heads T K"]:
        """x with its first R numbers turned, the rest as it was."""
        rotated = 2 * self.cos.shape[-1]
        if rotated == x.shape[-1]:
            return rotate(x, self.cos, self.sin, self.layout)
        return torch.cat((rotate(x[..., :rotated], self.cos, self.sin, self.layout), x[..., rotated:]), -1)


def rotation(
    spec: RotarySpec,
    head_width: int,
    positions: Int[Tensor, "#B T"],
    length_bound: Int[Tensor, " #B"],
    dtype: torch.dtype,
) -> Rotation:
    """The angles pos · frequency of each pair; computed in float32, in float64 for float64 models."""
    per_pair, factor = frequencies(spec.base, spec.rotated(head_width), spec.scaling, length_bound)
    precise = torch.float64 if dtype == torch.float64 else torch.float32
    angles = positions[:, None, :, None].to(precise) * per_pair[:, None, None, :].to(precise)
    return Rotation((angles.cos() * factor).to(dtype), (angles.sin() * factor).to(dtype), spec.layout)


def rotate(
    x: Float[Tensor, "B heads T R"],
    cos: Float[Tensor, "#B 1 T half"],
    sin: Float[Tensor, "#B 1 T half"],
    layout: Layout,
) -> Float[Tensor, "B heads T R"]:
    """Each pair (a, b) becomes (a·cos − b·sin, b·cos + a·sin): multiplication by e^{iθ}."""
    if layout == "interleaved":
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2)
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)
