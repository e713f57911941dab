"""How many numbers attention moves between the large memory and the small one that products are computed in.

Dao et al. 2022 (arXiv 2205.14135), theorem 2: with a table Θ(T·K + T²), by tiles Θ(T²·K² / M) for a small memory of M
numbers. The tiles that fit have rows in proportion to M / K, and keys are read again once a block of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from clearformer.cost.formula import ONE, TWO, Formula, letter, number

# Queries, keys, values and output of a tile share the small memory: a quarter each (algorithm 1, line 1).
_SHARES = 4


@dataclass(frozen=True)
class Sizes:
    """One head: `queries` of width `key_width` before `keys`, whose values have `value_width`."""

    queries: int
    keys: int
    key_width: int
    value_width: int


def rows_that_fit(memory: int, width: int) -> int:
    """Queries of a tile, in a small memory of so many numbers."""
    return max(1, memory // (_SHARES * width))


def by_table(sizes: Sizes) -> Formula:
    """Forward with the whole table: written as scores, read and written as weights, and read to mix the values."""
    T, S = letter("T", sizes.queries), letter("S", sizes.keys)
    K, U = letter("K", sizes.key_width), letter("U", sizes.value_width)
    return T * K + S * K + S * U + T * U + number(4) * T * S


def by_tiles(sizes: Sizes, rows: int) -> Formula:
    """Forward by tiles: queries once, keys and values once a block of `rows`, output and one log a query written."""
    T, S = letter("T", sizes.queries), letter("S", sizes.keys)
    K, U = letter("K", sizes.key_width), letter("U", sizes.value_width)
    passes = number(-(-sizes.queries // rows))
    return T * K + passes * S * (K + U) + T * (U + ONE)


def backward_by_tiles(sizes: Sizes, columns: int) -> Formula:
    """Backward by tiles: keys, values and their gradients once; a query's four vectors (itself, pull, and its gradient
    read and written) and two numbers once a block of `columns`; before that, pull and output for each query's mean."""
    T, S = letter("T", sizes.queries), letter("S", sizes.keys)
    K, U = letter("K", sizes.key_width), letter("U", sizes.value_width)
    passes = number(-(-sizes.keys // columns))
    means = T * (TWO * U + ONE)
    return means + TWO * S * (K + U) + passes * T * (number(3) * K + U + TWO)
