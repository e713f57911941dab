"""The table of scores in tiles, and which of them a mask hides whole: found from its description, without the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, assert_never

import torch
from torch import Tensor

from clearformer.layers.mask import Mask
from clearformer.spec import Causal, Full, Visibility

Sight = Literal["hidden", "clear", "mixed"]
"""Of a tile: no key of it is seen, every key by every query, or some by some."""

# Measured on two cores with 2 MiB of second-level cache each: a tile, its weights and their gradients stay there.
_SIDE, _LONG_SIDE, _LONG = 128, 256, 2048
_NUMBERS_A_THREAD = 2**17
# An accelerator hides the start of a product behind the one before only if each is large.
_DEVICE_SIDE, _DEVICE_NUMBERS = 1024, 2**26


class Span(NamedTuple):
    """The least and the greatest of a block's numbers."""

    low: int
    high: int


@dataclass(frozen=True)
class Chunk:
    """Key/value heads computed together: all of some rows of the batch, or some of one row's. `slots` counts them
    through the batch; `sights` by block of queries and of keys."""

    batch: slice
    groups: slice
    slots: slice
    mask: Mask
    sights: list[list[Sight]]


@dataclass(frozen=True)
class Tiling:
    """Blocks of queries and of keys, and the chunks of heads; a tile is one of each."""

    rows: list[slice]
    columns: list[slice]
    chunks: list[Chunk]


@dataclass(frozen=True)
class Sizes:
    """Queries and keys of a tile, and the key/value heads computed together."""

    rows: int
    columns: int
    slots: int


def sizes(query: Tensor, key: Tensor) -> Sizes:
    """Tiles that stay in the cache, for queries B H T K and keys B G S K."""
    shared = query.shape[1] // key.shape[1]
    if query.is_cpu:
        columns = _SIDE if key.shape[2] < _LONG else _LONG_SIDE
        numbers = _NUMBERS_A_THREAD * torch.get_num_threads()
    else:
        columns, numbers = _DEVICE_SIDE, _DEVICE_NUMBERS
    rows = max(1, columns // shared)
    taken = shared * min(rows, query.shape[2]) * min(columns, key.shape[2])
    return Sizes(rows, columns, max(1, numbers // max(1, taken)))


def tiling(query: Tensor, key: Tensor, mask: Mask, chosen: Sizes | None = None) -> Tiling:
    """The tiles of these queries and keys, and what the mask lets be seen of each."""
    size = chosen or sizes(query, key)
    (B, _, T, _), (_, G, S, _) = query.shape, key.shape
    rows, columns = blocks(T, size.rows), blocks(S, size.columns)
    everywhere = sights(mask, rows, columns) if mask.is_alike_in_every_row else None
    chunks = []
    for batch in blocks(B, max(1, size.slots // G)):
        seen = mask if everywhere else mask.of_rows(batch)
        found = everywhere or sights(seen, rows, columns)
        for groups in blocks(G, min(G, size.slots)):
            start, stop = batch.start * G + groups.start, (batch.stop - 1) * G + groups.stop
            chunks.append(Chunk(batch, groups, slice(start, stop), seen, found))
    return Tiling(rows, columns, chunks)


def blocks(length: int, size: int) -> list[slice]:
    """0 … length in pieces of `size`, the last one what is left."""
    return [slice(start, min(start + size, length)) for start in range(0, length, size)]


def sights(mask: Mask, rows: list[slice], columns: list[slice]) -> list[list[Sight]]:
    """What is seen of each tile in any row of the batch. A tile called mixed may be clear, never the other way."""
    queries, keys = _spans(mask.query_positions, rows), _spans(mask.key_positions, columns)
    real = None if mask.key_real is None else _spans(mask.key_real.long(), columns)
    of_query = of_key = None
    if mask.documents is not None:
        of_query, of_key = _spans(mask.documents, rows), _spans(mask.documents, columns)
    prefix = None
    if isinstance(mask.visibility, Causal) and mask.visibility.prefix and mask.prefix is not None:
        prefix = Span(int(mask.prefix.min()), int(mask.prefix.max()))

    def sight(i: int, j: int) -> Sight:
        query, key = queries[i], keys[j]
        some, every = _by_position(mask.visibility, query, key)
        if prefix is not None:
            some = some or (query.low < prefix.high and key.low < prefix.high)
            every = every or (query.high < prefix.low and key.high < prefix.low)
        if of_query is not None and of_key is not None:
            (first, last), (low, high) = of_query[i], of_key[j]
            some, every = some and first <= high and low <= last, every and first == last == low == high
        if real is not None:
            some, every = some and bool(real[j].high), every and bool(real[j].low)
        return "clear" if every else "mixed" if some else "hidden"

    return [[sight(i, j) for j in range(len(columns))] for i in range(len(rows))]


def _by_position(visibility: Visibility, query: Span, key: Span) -> tuple[bool, bool]:
    """Whether some query of the block sees some key of the other, and whether every one sees every one."""
    match visibility:
        case Full(radius=radius):
            if radius is None:
                return True, True
            some = key.low - query.high <= radius and query.low - key.high <= radius
            return some, query.high - key.low <= radius and key.high - query.low <= radius
        case Causal(window=window):
            some, every = key.low <= query.high, key.high <= query.low
            if window is not None:
                some, every = some and query.low - key.high < window, every and query.high - key.low < window
            return some, every
        case _:
            assert_never(visibility)


def _spans(numbers: Tensor, parts: list[slice]) -> list[Span]:
    """Least and greatest over all rows of the batch, block by block; one read from the device."""
    low, high = numbers.amin(0), numbers.amax(0)
    found = torch.stack([torch.stack((low[part].min(), high[part].max())) for part in parts])
    return [Span(*pair) for pair in found.tolist()]
