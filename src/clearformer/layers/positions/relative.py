"""A learnt bias per head and bucket of distance (Raffel et al. 2019 §2.1, arXiv 1910.10683)."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from clearformer.spec import RelativeBias as RelativeBiasSpec


def bucket(distance: Int[Tensor, "*any"], spec: RelativeBiasSpec) -> Int[Tensor, "*any"]:
    """The bucket of key position − query position: exact when near, logarithmic up to `max_distance`, then the last."""
    sides = 2 if spec.two_sided else 1
    per_side = spec.buckets // sides
    later = (distance > 0).long() * per_side if spec.two_sided else torch.zeros_like(distance)
    away = distance.abs() if spec.two_sided else (-distance).clamp(min=0)
    exact = per_side // 2
    growth = torch.log(away.clamp(min=1).float() / exact) / math.log(spec.max_distance / exact)
    coarse = (exact + (growth * (per_side - exact)).long()).clamp(max=per_side - 1)
    return later + torch.where(away < exact, away, coarse)


def relative_bias(
    weight: Float[Tensor, "buckets H"],
    spec: RelativeBiasSpec,
    query_positions: Int[Tensor, "B T"],
    key_positions: Int[Tensor, "B S"],
) -> Float[Tensor, "B H T S"]:
    """The learnt number of every pair's bucket."""
    distance = key_positions[:, None, :] - query_positions[:, :, None]
    return weight[bucket(distance, spec)].permute(0, 3, 1, 2)


class RelativeBias(nn.Module):
    """What is learnt, buckets × heads."""

    def __init__(self, heads: int, spec: RelativeBiasSpec) -> None:
        super().__init__()
        self.spec = spec
        self.weight = nn.Parameter(torch.empty(spec.buckets, heads))

    def forward(
        self, query_positions: Int[Tensor, "B T"], key_positions: Int[Tensor, "B S"]
    ) -> Float[Tensor, "B H T S"]:
        return relative_bias(self.weight, self.spec, query_positions, key_positions)
