"""Windows on a series: what is known, and what follows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from clearformer.data.batches import order
from clearformer.errors import DataError
from clearformer.messages import Message
from clearformer.messages import series as say


class SeriesBatch(NamedTuple):
    """Windows of `history`, each with the steps that follow it."""

    history: Float[Tensor, "B S C"]
    future: Float[Tensor, "B horizon C"]


@dataclass(frozen=True)
class Spans:
    """Where the three splits lie: rows start to stop. Their forecasts never overlap; a window's history may reach back
    into the split before, as in the literature (Zhou et al. 2020, Informer's code)."""

    training: tuple[int, int]
    validation: tuple[int, int]
    test: tuple[int, int]


def spans_by_rows(total: int, rows: tuple[int, int, int]) -> Spans:
    """Three spans of so many rows, from the first row on. Raises DataError where the table is shorter."""
    if min(rows) < 1 or sum(rows) > total:
        raise DataError(say.SPLIT_PAST_END, expected=sum(rows), found=total)
    first, second, third = np.cumsum(rows).tolist()
    return Spans((0, first), (first, second), (second, third))


def spans_by_shares(total: int, shares: tuple[float, float, float]) -> Spans:
    """Three spans by their shares of all rows; test and training are rounded down (Informer's code). Raises DataError
    for shares that are none."""
    if not min(shares) > 0 or not sum(shares) <= 1 + 1e-9:
        raise DataError(say.BAD_SHARES, found=", ".join(map(str, shares)))
    training, test = int(total * shares[0] + 1e-6), int(total * shares[2] + 1e-6)
    used = min(total, round(total * sum(shares)))
    return Spans((0, training), (training, used - test), (used - test, used))


def forecast_starts(span: tuple[int, int], lookback: int, horizon: int, name: Message) -> range:
    """The first forecast row of every window whose forecast lies in the span and whose history lies in the table.

    Raises DataError where there is none; `name` is the split's.
    """
    first, last = max(span[0], lookback), span[1] - horizon
    if last < first:
        expected = horizon + max(0, lookback - span[0])
        found = span[1] - span[0]
        raise DataError(
            say.TOO_FEW_ROWS, split=name, lookback=lookback, horizon=horizon, expected=expected, found=found
        )
    return range(first, last + 1)


def windows(values: Float[Tensor, "rows C"], starts: Int[Tensor, " B"], lookback: int, horizon: int) -> SeriesBatch:
    """The windows whose forecasts begin at these rows."""
    back = torch.arange(-lookback, 0)
    ahead = torch.arange(horizon)
    return SeriesBatch(values[starts[:, None] + back], values[starts[:, None] + ahead])


@dataclass(frozen=True)
class Windows:
    """Batches of all windows, in a new order each epoch. The few that fill no batch are left to other epochs."""

    values: Float[Tensor, "rows C"]
    starts: range
    lookback: int
    horizon: int
    size: int
    seed: int

    def count(self, epoch: int) -> int:
        return max(1, len(self.starts) // self.size)

    def batch(self, epoch: int, number: int) -> SeriesBatch:
        chosen = order(self.seed, epoch, len(self.starts))[number * self.size : (number + 1) * self.size]
        return windows(self.values, torch.from_numpy(chosen) + self.starts.start, self.lookback, self.horizon)
