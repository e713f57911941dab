"""Orders in which the rows of a projection may lie: rotary pairs side by side or in two halves, heads in groups."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from clearformer.spec import Attention, Block, LatentAttention, Rotary

Order = Int[Tensor, " rows"]


@dataclass(frozen=True)
class Turned:
    """Rows that rotary positions turn: `heads` of `width` each, of which `rotated` from `start` on."""

    name: str
    heads: int
    width: int
    start: int
    rotated: int

    def halves(self) -> Order:
        """Which of the rows with pairs side by side is each row of two halves (RoFormer, arXiv 2104.09864, §3.4)."""
        pairs = torch.arange(self.rotated).reshape(-1, 2).t().flatten() + self.start
        head = torch.cat((torch.arange(self.start), pairs, torch.arange(self.start + self.rotated, self.width)))
        return (torch.arange(self.heads)[:, None] * self.width + head).flatten()

    def pairs(self) -> Order:
        """The inverse of `halves`."""
        return self.halves().argsort()


def turned(block: Block) -> list[Turned]:
    """The projections of a block whose rows are turned, and the norms between; none without rotary positions."""
    match spec := block.attention:
        case Attention(position=Rotary() as rotary):
            rotated, found = rotary.rotated(spec.key_width), []
            for name, heads in (("query", spec.heads), ("key", spec.kv_heads)):
                found.append(Turned(f"attention.{name}", heads, spec.key_width, 0, rotated))
                if spec.qk_norm is not None:
                    normed = heads if spec.qk_norm.over == "projection" else 1
                    found.append(Turned(f"attention.{name}_norm", normed, spec.key_width, 0, rotated))
            return found
        case LatentAttention():
            last = "query" if spec.query_rank is None else "query_up"
            wide, narrow = spec.key_width + spec.rotary_width, spec.kv_rank + spec.rotary_width
            return [
                Turned(f"attention.{last}", spec.heads, wide, spec.key_width, spec.rotary_width),
                Turned("attention.latent_down", 1, narrow, spec.kv_rank, spec.rotary_width),
            ]
        case _:
            return []


def keys_in(block: Block, heads: int) -> Turned | None:
    """The key rows taken for those of `heads` heads, where they can be cut so; as converters do that take the number
    of query heads for that of key heads."""
    spec = block.attention
    if not isinstance(spec, Attention) or not isinstance(spec.position, Rotary):
        return None
    rows = spec.kv_heads * spec.key_width
    if rows % (2 * heads):
        return None
    return Turned("attention.key", heads, rows // heads, 0, rows // heads)


def regrouped(heads: int, groups: int) -> Order:
    """Heads that lie group by group, in the order in which each group's first comes first."""
    return torch.arange(heads).reshape(groups, -1).t().flatten()


def by_heads(order: Order, width: int) -> Order:
    """An order of heads as an order of their rows."""
    return (order[:, None] * width + torch.arange(width)).flatten()
