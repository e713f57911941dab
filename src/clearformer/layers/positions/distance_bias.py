"""A bias on scores that hangs on the distance of key and query alone, kept as a description until a kernel needs it.

The T × S table of a head repeats one number along each diagonal: a line of T + S numbers says all of it, and a kernel
that goes by tiles never makes more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

import torch
from jaxtyping import Float, Int
from torch import Tensor

from clearformer.layers.positions.alibi import distance_penalty
from clearformer.layers.positions.relative import bucket, relative_bias
from clearformer.spec import ALiBi
from clearformer.spec import RelativeBias as RelativeBiasSpec

Position = ALiBi | RelativeBiasSpec


@dataclass(frozen=True)
class DistanceBias:
    """`position` applied to given positions for `heads` heads. `weight` is what is learnt, buckets × heads, None for
    ALiBi; `dtype` that of the numbers."""

    position: Position
    heads: int
    query_positions: Int[Tensor, "#B T"]
    key_positions: Int[Tensor, "#B S"]
    dtype: torch.dtype
    weight: Float[Tensor, "buckets H"] | None = None
    _made: dict[str, Tensor] = field(default_factory=dict, repr=False, compare=False)

    def table(self) -> Float[Tensor, "#B H T S"]:
        """For kernels that need all of it; made once, for all layers that share it."""
        if "table" not in self._made:
            self._made["table"] = self._table()
        return self._made["table"]

    def _table(self) -> Tensor:
        match self.position:
            case ALiBi(max_bias=max_bias):
                return distance_penalty(self.heads, max_bias, self.query_positions, self.key_positions, self.dtype)
            case RelativeBiasSpec():
                assert self.weight is not None
                return relative_bias(self.weight, self.position, self.query_positions, self.key_positions)
            case _:
                assert_never(self.position)


def line(
    position: Position, heads: int, weight: Tensor | None, distances: Int[Tensor, " D"], dtype: torch.dtype
) -> Float[Tensor, "H D"]:
    """The bias of every distance key − query."""
    match position:
        case ALiBi(max_bias=max_bias):
            return distance_penalty(heads, max_bias, distances[None, :1] * 0, distances[None], dtype)[0, :, 0]
        case RelativeBiasSpec():
            assert weight is not None
            return weight[bucket(distances, position)].mT
        case _:
            assert_never(position)


def pulled_back(
    position: RelativeBiasSpec, of_line: Float[Tensor, "H D"], distances: Int[Tensor, " D"]
) -> Float[Tensor, "buckets H"]:
    """The gradient of what is learnt from that of the line: a bucket gets the sum of its distances'."""
    made = of_line.new_zeros(position.buckets, len(of_line))
    return made.index_add_(0, bucket(distances, position), of_line.mT)
