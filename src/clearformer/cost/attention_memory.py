"""What one attention holds beside its inputs, by kernel: what says beforehand that a table of scores will not fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from clearformer.cost.formula import TWO, Formula, letter, number, total

Kernel = Literal["plain", "tiled", "sdpa"]


@dataclass(frozen=True)
class Sizes:
    """B rows, H heads of queries, G of keys and values, T positions of width K, in numbers of `bytes_each`."""

    batch: int
    heads: int
    kv_heads: int
    length: int
    width: int
    bytes_each: int = 4


def held(sizes: Sizes, kernel: Kernel, *, training: bool, dropout: bool = False) -> Formula:
    """In bytes, at the fullest moment.

    Plainly: scores and weights, and to train the gradients of both beside the weights; two tables more with dropout,
    which SDPA too computes plainly on a CPU. Otherwise output and one number a query, and to train each input's
    gradient; by tiles, inputs in blocks as well, and to train the output's gradient and sums for the queries'. A tile
    has one size whatever the length.
    """
    B, H, T = letter("B", sizes.batch), letter("H", sizes.heads), letter("T", sizes.length)
    K, G = letter("K", sizes.width), letter("G", sizes.kv_heads)
    each, output = number(sizes.bytes_each), B * H * T * K
    inputs = B * T * K * (H + TWO * G)
    if kernel == "plain" or (kernel == "sdpa" and dropout):
        tables = number((3 if training else 2) + (2 if dropout else 0)) * B * H * T * T
        return each * (tables + output + inputs if training else tables + output)
    kept = output + B * H * T
    blocks = [inputs, *([output, output] if training else [])] if kernel == "tiled" else []
    return each * total((kept, *blocks, *([inputs] if training else [])))
