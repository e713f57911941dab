"""Whether the machine lets one measure: the same small work again and again, and how evenly it is served."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

import torch

MOST_SPREAD = 0.15
LEAST_SHARE = 0.9

_PIECES = 24
_MATRIX = 768


@dataclass(frozen=True)
class Calm:
    """`spread`: (ninth decile − first) / median of the pieces' times. `share`: processor time over wall time · threads.

    A neighbour on our cores lowers the share; one that steals caches, memory or clock widens the spread.
    """

    spread: float
    share: float
    threads: int

    @property
    def quiet(self) -> bool:
        return self.spread <= MOST_SPREAD and self.share >= LEAST_SHARE


def calibrate() -> Calm:
    """Multiply matrices for about a second with the threads that torch is set to."""
    threads = torch.get_num_threads()
    left = torch.ones(_MATRIX, _MATRIX)
    product = torch.empty_like(left)
    for _ in range(3):
        torch.mm(left, left, out=product)
    seconds: list[float] = []
    wall, processor = time.perf_counter(), time.process_time()
    for _ in range(_PIECES):
        began = time.perf_counter()
        for _ in range(8):
            torch.mm(left, left, out=product)
        seconds.append(time.perf_counter() - began)
    share = (time.process_time() - processor) / ((time.perf_counter() - wall) * threads)
    return Calm(spread_of(seconds), min(share, 1.0), threads)


def spread_of(seconds: list[float]) -> float:
    """How far apart the ninth and the first decile are, as a share of the median."""
    deciles = statistics.quantiles(seconds, n=10)
    return (deciles[-1] - deciles[0]) / statistics.median(seconds)
