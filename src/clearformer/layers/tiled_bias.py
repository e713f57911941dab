"""What a tile's scores are biased by, and how a gradient goes back there: from a table that the caller holds, or from
one number a head and distance.

Tiles have the shape batch, groups, query heads of a group, rows, columns.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clearformer.layers.mask import Mask
from clearformer.layers.positions.distance_bias import Position, line, pulled_back
from clearformer.layers.tiles import Chunk
from clearformer.spec import RelativeBias

Heads = tuple[int, int]
"""Groups, and query heads of a group."""


class TableBias:
    """A table B or 1, H, T, S. Its gradient, of the same size, is made at the first pull."""

    def __init__(self, table: Tensor, heads: Heads) -> None:
        self._table, self._heads = table, heads
        self._gradient: Tensor | None = None

    def tile(self, chunk: Chunk, rows: slice, columns: slice) -> Tensor:
        """What is added to a tile's scores."""
        return self._part(self._table, chunk, rows, columns)

    def pull(self, moved: Tensor, chunk: Chunk, rows: slice, columns: slice) -> None:
        """Take in the gradient of a tile's scores; a table for all rows of the batch gets the sum of theirs."""
        if self._gradient is None:
            self._gradient = torch.zeros_like(self._table, dtype=moved.dtype)
        part = self._part(self._gradient, chunk, rows, columns)
        part.add_(moved if len(self._table) > 1 else moved.sum(0, keepdim=True))

    def gradient(self) -> Tensor:
        """That of the table, over all tiles."""
        found = torch.zeros_like(self._table) if self._gradient is None else self._gradient
        return found.to(self._table.dtype)

    def _part(self, table: Tensor, chunk: Chunk, rows: slice, columns: slice) -> Tensor:
        batch = chunk.batch if len(table) > 1 else slice(None)
        return table.unflatten(1, self._heads)[batch, chunk.groups, :, rows, columns]


class LineBias:
    """Groups, heads, distances: one number each, from which every tile takes its diagonals."""

    def __init__(self, position: Position, weight: Tensor | None, mask: Mask, heads: Heads, work: torch.dtype) -> None:
        self._position, self._weight = position, weight
        self._queries, self._keys = mask.query_positions, mask.key_positions
        self._least = self._keys.min() - self._queries.max()
        most = self._keys.max() - self._queries.min()
        self._distances = torch.arange(int(self._least), int(most) + 1, device=self._keys.device)
        made = line(position, heads[0] * heads[1], weight, self._distances, work if weight is None else weight.dtype)
        self._line = made.contiguous().unflatten(0, heads)
        self._gradient: Tensor | None = None

    def tile(self, chunk: Chunk, rows: slice, columns: slice) -> Tensor:
        """What is added to a tile's scores."""
        places = self._places(chunk, rows, columns)
        taken = self._line[chunk.groups].index_select(-1, places.flatten())
        return taken.unflatten(-1, places.shape).movedim(2, 0)

    def pull(self, moved: Tensor, chunk: Chunk, rows: slice, columns: slice) -> None:
        """Take in the gradient of a tile's scores: a number gets the sum of its diagonal."""
        if self._gradient is None:
            self._gradient = torch.zeros_like(self._line, dtype=moved.dtype)
        places = self._places(chunk, rows, columns)
        if len(places) == 1:
            moved = moved.sum(0, keepdim=True)
        of_place = moved.movedim(0, 2).flatten(2)
        self._gradient[chunk.groups].scatter_add_(-1, places.flatten().expand_as(of_place), of_place)

    def gradient(self) -> Tensor | None:
        """That of what is learnt, over all tiles; None where nothing is."""
        if self._weight is None or not isinstance(self._position, RelativeBias):
            return None
        if self._gradient is None:
            return torch.zeros_like(self._weight)
        return pulled_back(self._position, self._gradient.flatten(0, 1), self._distances).to(self._weight.dtype)

    def _places(self, chunk: Chunk, rows: slice, columns: slice) -> Tensor:
        """Where each pair's number lies on the line: batch or 1, rows, columns."""
        query, key = (each if len(each) == 1 else each[chunk.batch] for each in (self._queries, self._keys))
        return key[:, None, columns] - query[:, rows, None] - self._least


TileBias = TableBias | LineBias
