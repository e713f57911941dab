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
    """cos θ and ±sin θ of every position's angles, for one forward pass.

    The sign of a sine is that of its place in the pair, so that a turn is x · cos + partner(x) · sin.
    """

    cos: Float[Tensor, "#B 1 T R"]
    sin: Float[Tensor, "#B 1 T R"]
    layout: Layout

    def turn(self, x: Float[Tensor, "B heads T K"]) -> Float[Tensor, "B heads T K"]:
        """x with its first R numbers turned, the rest as it was."""
        width = self.cos.shape[-1]
        if width == x.shape[-1]:
            return self._turn(x)
        return torch.cat((self._turn(x[..., :width]), x[..., width:]), -1)

    def _turn(self, x: Float[Tensor, "B heads T R"]) -> Float[Tensor, "B heads T R"]:
        return x * self.cos + partner(x, self.layout) * self.sin


def partner(x: Float[Tensor, "*any R"], layout: Layout) -> Float[Tensor, "*any R"]:
    """Each number's place taken by the other of its pair: i and i + R/2, or 2i and 2i + 1."""
    if layout == "halves":
        return x.roll(x.shape[-1] // 2, -1)
    return x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)


def paired(
    first: Float[Tensor, "*any half"], second: Float[Tensor, "*any half"], layout: Layout
) -> Float[Tensor, "*any R"]:
    """One number for each first and each second place of the pairs."""
    return torch.cat((first, second), -1) if layout == "halves" else torch.stack((first, second), -1).flatten(-2)


def rotation(
    spec: RotarySpec,
    head_width: int,
    positions: Int[Tensor, "#B T"],
    length_bound: Int[Tensor, " #B"] | Int[Tensor, "#B T"],
    dtype: torch.dtype,
) -> Rotation:
    """Angles pos · frequency: (a, b) becomes (a·cos − b·sin, b·cos + a·sin), multiplication by e^{iθ}.

    Computed in float32, in float64 for float64 models.
    """
    per_pair, factor = frequencies(spec.base, spec.rotated(head_width), spec.scaling, length_bound.flatten())
    if length_bound.dim() == 2 and len(per_pair) > 1:
        per_position = per_pair.unflatten(0, length_bound.shape)[:, None]
    else:
        per_position = per_pair[:, None, None, :]
    precise = torch.float64 if dtype == torch.float64 else torch.float32
    angles = positions[:, None, :, None].to(precise) * per_position.to(precise)
    cos, sin = angles.cos() * factor, angles.sin() * factor
    return Rotation(paired(cos, cos, spec.layout).to(dtype), paired(-sin, sin, spec.layout).to(dtype), spec.layout)
