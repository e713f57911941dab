"""Attention without its table: one tile of scores at a time, forward and backward.

FlashAttention (Dao et al. 2022, arXiv 2205.14135 §3; loops in the order of Dao 2023, arXiv 2307.08691 §3). A softmax
can be taken piece by piece: with the highest score m so far and the sum l of e^(score − m), a piece with a higher score
m' shrinks what was summed and mixed by e^(m − m'). Of the weights only m + log l is kept; from it each comes back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

Visible = Bool[np.ndarray, "... T S"]


class Tile(NamedTuple):
    """The queries and the keys of a tile."""

    rows: slice
    columns: slice


class ByDistance(NamedTuple):
    """A bias that hangs on key − query alone: `line` has a number for each distance, from `least` on. A table of it
    would repeat every number along a diagonal."""

    line: Float[np.ndarray, "... D"]
    query_positions: Int[np.ndarray, " T"]
    key_positions: Int[np.ndarray, " S"]
    least: int

    def places(self, tile: Tile) -> Int[np.ndarray, "rows columns"]:
        """Where each pair's number lies on the line."""
        return self.key_positions[tile.columns] - self.query_positions[tile.rows, None] - self.least


class Bent(NamedTuple):
    """What happens to a score besides the product: c·tanh(score/c), then a bias; what is not visible is −∞."""

    scale: float
    visible: Visible | None = None
    bias: Float[np.ndarray, "... T S"] | ByDistance | None = None
    cap: float | None = None


class Gradients(NamedTuple):
    """By the inputs of the same names; `bias` is that of every score, or of the line that the bias is made from."""

    query: Float[np.ndarray, "... T K"]
    key: Float[np.ndarray, "... S K"]
    value: Float[np.ndarray, "... S U"]
    bias: Float[np.ndarray, "... T S"] | Float[np.ndarray, "... D"] | None


def forward(
    query: Float[np.ndarray, "... T K"],
    key: Float[np.ndarray, "... S K"],
    value: Float[np.ndarray, "... S U"],
    bent: Bent,
    *,
    rows: int,
    columns: int,
) -> tuple[Float[np.ndarray, "... T U"], Float[np.ndarray, "... T 1"]]:
    """The mixed values, and the log of each query's sum of e^score: +∞ where it sees nothing and gets zeros."""
    T, S = query.shape[-2], key.shape[-2]
    mixed = np.zeros((*query.shape[:-1], value.shape[-1]))
    logs = np.full((*query.shape[:-1], 1), np.inf)
    for asked in pieces(T, rows):
        asking = query[..., asked, :]
        highest = np.full((*query.shape[:-2], asked.stop - asked.start, 1), -np.inf)
        total, mix = np.zeros_like(highest), np.zeros((*highest.shape[:-1], value.shape[-1]))
        for columns_ in pieces(S, columns):
            tile = Tile(asked, columns_)
            if hidden(bent.visible, tile):
                continue
            scores, _ = score(asking, key[..., columns_, :], bent, tile)
            higher = np.maximum(highest, scores.max(axis=-1, keepdims=True))
            # A query that has seen nothing yet has nothing to shrink, and −∞ − −∞ is no number.
            seen = np.where(higher == -np.inf, 0.0, higher)
            shrink, powers = np.exp(highest - seen), np.exp(scores - seen)
            total = shrink * total + powers.sum(axis=-1, keepdims=True)
            mix = shrink * mix + powers @ value[..., columns_, :]
            highest = higher
        any_seen = total > 0.0
        safe = np.where(any_seen, total, 1.0)
        mixed[..., asked, :] = mix / safe
        logs[..., asked, :] = np.where(any_seen, highest + np.log(safe), np.inf)
    return mixed, logs


def backward(
    pull: Float[np.ndarray, "... T U"],
    query: Float[np.ndarray, "... T K"],
    key: Float[np.ndarray, "... S K"],
    value: Float[np.ndarray, "... S U"],
    bent: Bent,
    mixed: Float[np.ndarray, "... T U"],
    logs: Float[np.ndarray, "... T 1"],
    *,
    rows: int,
    columns: int,
) -> Gradients:
    """The gradients of Σ pull · output. Softmax's own is P ∘ (dP − Σ P dP), and Σ P dP is pull · output, row by row."""
    means = (pull * mixed).sum(axis=-1, keepdims=True)
    of_query, of_key, of_value = np.zeros_like(query), np.zeros_like(key), np.zeros_like(value)
    of_bias = room_for_bias(bent, query, key)
    for known in pieces(key.shape[-2], columns):
        keys, values = key[..., known, :], value[..., known, :]
        for asked in pieces(query.shape[-2], rows):
            tile = Tile(asked, known)
            if hidden(bent.visible, tile):
                continue
            asking, pulled = query[..., asked, :], pull[..., asked, :]
            scores, slope = score(asking, keys, bent, tile)
            weights = np.exp(scores - logs[..., asked, :])
            moved = weights * (pulled @ turned(values) - means[..., asked, :])
            if isinstance(bent.bias, ByDistance):
                assert of_bias is not None
                lines = np.moveaxis(of_bias, -1, 0)
                np.add.at(lines, bent.bias.places(tile), np.moveaxis(moved, (-2, -1), (0, 1)))
            elif of_bias is not None:
                of_bias[..., asked, known] = moved
            moved = moved * slope * bent.scale
            of_value[..., known, :] += turned(weights) @ pulled
            of_key[..., known, :] += turned(moved) @ asking
            of_query[..., asked, :] += moved @ keys
    return Gradients(of_query, of_key, of_value, of_bias)


def score(
    query: Float[np.ndarray, "... rows K"], key: Float[np.ndarray, "... columns K"], bent: Bent, tile: Tile
) -> tuple[Float[np.ndarray, "... rows columns"], Float[np.ndarray, "... rows columns"] | float]:
    """A tile's scores, and how fast each follows its product: 1, or the slope of the tanh that bends it."""
    scores = query @ turned(key) * bent.scale
    slope: np.ndarray | float = 1.0
    if bent.cap is not None:
        straight = np.tanh(scores / bent.cap)
        scores, slope = bent.cap * straight, 1.0 - straight**2
    if bent.bias is not None:
        scores = scores + bias_of(bent.bias, tile)
    if bent.visible is not None:
        scores = np.where(bent.visible[..., tile.rows, tile.columns], scores, -np.inf)
    return scores, slope


def bias_of(bias: Float[np.ndarray, "... T S"] | ByDistance, tile: Tile) -> Float[np.ndarray, "... rows columns"]:
    """A tile's part of it."""
    return bias.line[..., bias.places(tile)] if isinstance(bias, ByDistance) else bias[..., tile.rows, tile.columns]


def room_for_bias(
    bent: Bent, query: Float[np.ndarray, "... T K"], key: Float[np.ndarray, "... S K"]
) -> Float[np.ndarray, "..."] | None:
    """Zeros of the gradient's shape: one line of each head's for a bias by distance, else one number for each score."""
    match bent.bias:
        case None:
            return None
        case ByDistance(line=line):
            return np.zeros((*query.shape[:-2], line.shape[-1]))
        case _:
            return np.zeros((*query.shape[:-1], key.shape[-2]))


def hidden(visible: Visible | None, tile: Tile) -> bool:
    """Whether no query of the tile sees any key of it; such a tile is never computed: half of the causal ones."""
    return visible is not None and not visible[..., tile.rows, tile.columns].any()


def pieces(length: int, size: int) -> Iterator[slice]:
    """0 … length in slices of `size`; the last has what is left."""
    return (slice(start, min(start + size, length)) for start in range(0, length, size))


def turned(x: Float[np.ndarray, "... a b"]) -> Float[np.ndarray, "... b a"]:
    """Rows as columns."""
    return np.swapaxes(x, -1, -2)
