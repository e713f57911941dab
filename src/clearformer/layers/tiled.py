"""Attention tile by tile: the table of scores never exists, forward or backward.

FlashAttention (Dao et al. 2022, arXiv 2205.14135; Dao 2023, arXiv 2307.08691), from batched products. A block of
queries goes along the keys with three things in hand: the highest score so far, the sum of e^(score − highest), and the
values mixed by those powers. A higher score found later shrinks sum and mix by one factor. What is kept for the
backward pass is the log of each row's sum, from which every weight comes back: e^(score − log).

Beside inputs and outputs memory grows with T + S. A bias is a table that the caller holds already, or is made tile by
tile from the distance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from clearformer.layers.dropout import fates
from clearformer.layers.mask import Mask
from clearformer.layers.norm import at_least_float32
from clearformer.layers.positions.distance_bias import Position
from clearformer.layers.tiled_bias import LineBias, TableBias, TileBias
from clearformer.layers.tiles import Chunk, Sizes, Tiling, tiling

# Any odd number with bits all over: neighbouring tiles get seeds that have nothing in common.
_SPREAD = 0x9E3779B97F4A7C15


Tables = dict[tuple[int, int, int], Tensor]
"""By mask and tile: 0 where seen, −∞ where hidden."""


@dataclass(frozen=True)
class How:
    """What is computed beside the products. `seed` is drawn once a call that drops; `sizes` None: chosen. With
    `position` scores are biased by the distance, and the bias given is what is learnt of that, if anything is."""

    mask: Mask
    scale: float
    score_cap: float | None = None
    dropout: float = 0.0
    seed: int = 0
    sizes: Sizes | None = None
    position: Position | None = None


def forward(query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, how: How) -> tuple[Tensor, Tensor]:
    """The mixed values B H T U, and B H T the logs of each query's sum of e^score: +∞ where it sees nothing."""
    tiles = _Tiles(query, key, bias, how)
    _, G, R, _ = tiles.shape
    U, work = value.shape[3], torch.promote_types(query.dtype, torch.float32)
    queries, keys = tiles.rows_of(query * how.scale), tiles.columns_of(key)
    values = tiles.columns_of(value)
    mixed, logs = (each.unflatten(1, (G, R)) for each in room(query, key, value))
    for i, rows in enumerate(tiles.tiling.rows):
        tables: Tables = {}
        for chunk in tiles.tiling.chunks:
            asked = queries[i][chunk.slots]
            top = asked.new_full((*asked.shape[:2], 1), torch.finfo(work).min, dtype=work)
            total, mix = torch.zeros_like(top), asked.new_zeros(*asked.shape[:2], U, dtype=work)
            for j in tiles.seen(chunk, i):
                scores, _ = tiles.scores(asked, keys[j][chunk.slots], chunk, i, j, tables)
                higher = torch.maximum(top, scores.amax(-1, keepdim=True))
                shrink, top = top.sub_(higher).exp_(), higher
                powers = scores.sub_(top).exp_()
                total.mul_(shrink).add_(powers.sum(-1, keepdim=True))
                kept = powers if not how.dropout else powers * tiles.fates(powers, chunk, i, j)
                _add_product(mix.mul_(shrink), kept, values[j][chunk.slots])
            blind = total == 0
            shape = tiles.heads_of(chunk, rows)
            mixed[chunk.batch, chunk.groups, :, rows] = mix.div_(total.masked_fill(blind, 1.0)).view(*shape, U)
            logs[chunk.batch, chunk.groups, :, rows] = top.add_(total.log_()).masked_fill_(blind, math.inf).view(*shape)
    return mixed.flatten(1, 2), logs.flatten(1, 2)


def backward(
    pull: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    mixed: Tensor,
    logs: Tensor,
    how: How,
    *,
    bias_too: bool = False,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Gradients of query, key, value and, where asked for, bias; every tile's weights are computed again.

    With weights P and their gradient dP, a score's gradient is P ∘ (dP − Σ P dP), and the sum is pull · output.
    """
    tiles = _Tiles(query, key, bias, how)
    work = logs.dtype
    queries, keys, values = tiles.rows_of(query * how.scale), tiles.columns_of(key), tiles.columns_of(value)
    pulls, sums = tiles.rows_of(pull), tiles.rows_of((pull.to(work) * mixed).sum(-1, keepdim=True))
    powers_of = tiles.rows_of(logs[..., None])
    of_queries = [each.new_zeros(each.shape, dtype=work) for each in queries]
    of_key, of_value = as_projected(key), as_projected(value)
    for j, columns in enumerate(tiles.tiling.columns):
        tables: Tables = {}
        for chunk in tiles.tiling.chunks:
            known, given = keys[j][chunk.slots], values[j][chunk.slots]
            to_key, to_value = known.new_zeros(known.shape, dtype=work), given.new_zeros(given.shape, dtype=work)
            for i in tiles.asked(chunk, j):
                asked, pulled = queries[i][chunk.slots], pulls[i][chunk.slots]
                scores, slope = tiles.scores(asked, known, chunk, i, j, tables)
                weights = scores.sub_(powers_of[i][chunk.slots]).exp_()
                moved = at_least_float32(torch.bmm(pulled, given.mT))
                kept = weights
                if how.dropout:
                    fate = tiles.fates(weights, chunk, i, j)
                    kept, moved = weights * fate, moved.mul_(fate)
                _add_product(to_value, kept.mT, pulled)
                moved = moved.sub_(sums[i][chunk.slots]).mul_(weights)
                if bias_too:
                    tiles.pull_bias(moved, chunk, i, j)
                moved = moved if slope is None else moved.mul_(slope)
                _add_product(to_key, moved.mT, asked)
                _add_product(of_queries[i][chunk.slots], moved, known)
            size = chunk.batch.stop - chunk.batch.start
            of_key[chunk.batch, chunk.groups, columns] = to_key.unflatten(0, (size, -1)).to(key.dtype)
            of_value[chunk.batch, chunk.groups, columns] = to_value.unflatten(0, (size, -1)).to(value.dtype)
    of_query = tiles.whole(of_queries, query).mul_(how.scale)
    return of_query, of_key, of_value, tiles.bias.gradient() if bias_too and tiles.bias is not None else None


class _Tiles:
    """One call's heads, cut: R = H / G queries' heads share each of the B · G slots of keys and values."""

    def __init__(self, query: Tensor, key: Tensor, bias: Tensor | None, how: How) -> None:
        B, H, T, _ = query.shape
        self.shape = B, key.shape[1], H // key.shape[1], T
        self.how = how
        self.bias = _bias(bias, how, self.shape[1:3], torch.promote_types(query.dtype, torch.float32))
        self.tiling: Tiling = tiling(query, key, how.mask, how.sizes)

    def rows_of(self, heads: Tensor) -> list[Tensor]:
        """Blocks of what every query has: B·G slots, R · rows, numbers."""
        B, G, R, T = self.shape
        split = heads.reshape(B, G, R, T, -1)
        return [split[:, :, :, rows].reshape(B * G, -1, split.shape[-1]) for rows in self.tiling.rows]

    def columns_of(self, heads: Tensor) -> list[Tensor]:
        """Blocks of what every key has: B·G slots, columns, numbers."""
        return [heads[:, :, columns].reshape(-1, *heads[:, :, columns].shape[2:]) for columns in self.tiling.columns]

    def whole(self, blocks: list[Tensor], like: Tensor) -> Tensor:
        """The inverse of `rows_of`."""
        made = as_projected(like)
        split = made.unflatten(1, self.shape[1:3])
        for rows, block in zip(self.tiling.rows, blocks, strict=True):
            split[:, :, :, rows] = block.view(*self.shape[:3], -1, block.shape[-1]).to(like.dtype)
        return made

    def seen(self, chunk: Chunk, i: int) -> list[int]:
        """The blocks of keys that some query of block i sees."""
        return [j for j, sight in enumerate(chunk.sights[i]) if sight != "hidden"]

    def asked(self, chunk: Chunk, j: int) -> list[int]:
        """The blocks of queries of which some see a key of block j."""
        return [i for i, sights in enumerate(chunk.sights) if sights[j] != "hidden"]

    def scores(
        self, query: Tensor, key: Tensor, chunk: Chunk, i: int, j: int, tables: Tables
    ) -> tuple[Tensor, Tensor | None]:
        """A tile's scores, −∞ where hidden, and with a cap its slope there; `tables` keeps a block's."""
        scores, slope, cap = at_least_float32(torch.bmm(query, key.mT)), None, self.how.score_cap
        if cap is not None:
            bent = scores.div_(cap).tanh_()
            slope = 1.0 - bent.square()
            scores = bent.mul_(cap)
        tile = scores.view(*self.heads_of(chunk, self.tiling.rows[i]), scores.shape[-1])
        if self.bias is not None:
            tile.add_(self.bias.tile(chunk, self.tiling.rows[i], self.tiling.columns[j]))
        if chunk.sights[i][j] == "mixed":
            place = id(chunk.mask), i, j
            if place not in tables:
                seen = chunk.mask.visible(self.tiling.rows[i], self.tiling.columns[j])
                tables[place] = torch.zeros_like(seen, dtype=scores.dtype).masked_fill_(~seen, -math.inf)[:, :, None]
            tile.add_(tables[place])
        return scores, slope

    def heads_of(self, chunk: Chunk, rows: slice) -> tuple[int, int, int, int]:
        """A chunk's rows of the batch, its groups, their query heads, and the queries of a block."""
        batch, groups = chunk.batch.stop - chunk.batch.start, chunk.groups.stop - chunk.groups.start
        return batch, groups, self.shape[2], rows.stop - rows.start

    def pull_bias(self, moved: Tensor, chunk: Chunk, i: int, j: int) -> None:
        """What moves a tile's scores moves its bias."""
        assert self.bias is not None
        rows, columns = self.tiling.rows[i], self.tiling.columns[j]
        self.bias.pull(moved.view(*self.heads_of(chunk, rows), -1), chunk, rows, columns)

    def fates(self, weights: Tensor, chunk: Chunk, i: int, j: int) -> Tensor:
        """Dropout's factors for a tile: the same in both passes, drawn from the call's seed and the tile's place."""
        tiles = len(self.tiling.rows) * len(self.tiling.columns)
        place = chunk.slots.start * tiles + i * len(self.tiling.columns) + j
        generator = torch.Generator(weights.device).manual_seed((self.how.seed + (place + 1) * _SPREAD) % 2**63)
        return fates(weights, self.how.dropout, generator)


def _bias(given: Tensor | None, how: How, heads: tuple[int, int], work: torch.dtype) -> TileBias | None:
    if how.position is not None:
        return LineBias(how.position, given, how.mask, heads, work)
    return None if given is None else TableBias(given, heads)


def room(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Memory for what the forward pass returns."""
    mixed = as_projected(query, value.shape[3])
    return mixed, query.new_empty(query.shape[:3], dtype=torch.promote_types(query.dtype, torch.float32))


def as_projected(heads: Tensor, width: int | None = None) -> Tensor:
    """Room for B heads T width, lying as a projection leaves it, so that no copy is needed to go back through it."""
    B, count, T, K = heads.shape
    return heads.new_empty(B, T, count, width or K).transpose(1, 2)


def _add_product(to: Tensor, left: Tensor, right: Tensor) -> None:
    """to += left · right; half-precision products are summed up in float32."""
    if right.dtype == to.dtype:
        to.baddbmm_(left, right)
    else:
        to.add_(torch.bmm(left.to(right.dtype), right))
