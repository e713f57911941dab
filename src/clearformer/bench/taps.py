"""What the points where one may look inside cost while nobody looks: a model's forward pass with them and without."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from clearformer.bench.rounds import Advance
from clearformer.bench.without_taps import without_taps
from clearformer.model import DecoderOnly
from clearformer.spec import DecoderOnly as DecoderOnlySpec
from clearformer.spec import Tokens

ALLOWED = 0.02
"""What taps that are off may add to a forward pass, as a share of it."""
_SECONDS, _LEAST_PAIRS = 0.5, 3
Clock = Callable[[], float]


@dataclass(frozen=True)
class TapsRow:
    """At one length: seconds of a forward pass with taps that are off and without any, medians over the rounds. `cost`
    is the median of what the former takes more within a round, as a share; `low` and `high` the rounds' least and
    greatest."""

    length: int
    with_taps: float
    without: float
    cost: float
    low: float
    high: float
    same: bool


def measure_taps(
    model: DecoderOnly, lengths: Sequence[int], *, runs: int, advance: Advance, clock: Clock = time.perf_counter
) -> list[TapsRow]:
    """A row a length. In a round the two take turns, forward pass by forward pass, for half a second; `same` says
    whether they answered alike, bit for bit."""
    assert isinstance(model.spec, DecoderOnlySpec)
    rows, source = [], model.spec.decoder.input
    assert isinstance(source, Tokens)
    for place, length in enumerate(lengths):
        ids = torch.arange(length)[None] % source.vocabulary
        rounds = []
        with torch.inference_mode():
            answers = _answers(model, ids)
            for number in range(runs):
                rounds.append(_round(model, ids, clock))
                advance(place * runs + number + 1, len(lengths) * runs)
        rows.append(_row(length, rounds, same=torch.equal(*answers)))
    return rows


def _answers(model: DecoderOnly, ids: Tensor) -> tuple[Tensor, Tensor]:
    """One of each, to warm up."""
    with_taps: Tensor = model(ids)
    with without_taps():
        return with_taps, model(ids)


def _round(model: DecoderOnly, ids: Tensor, clock: Clock) -> tuple[float, float]:
    """Seconds of a forward pass with and without; each pair begins with the other one."""
    spent: list[list[float]] = [[], []]
    end = time.perf_counter() + _SECONDS
    while time.perf_counter() < end or len(spent[0]) < _LEAST_PAIRS:
        for bare in (False, True) if len(spent[0]) % 2 else (True, False):
            spent[bare].append(_seconds(model, ids, clock, bare=bare))
    return statistics.median(spent[False]), statistics.median(spent[True])


def _seconds(model: DecoderOnly, ids: Tensor, clock: Clock, *, bare: bool) -> float:
    if not bare:
        began = clock()
        model(ids)
        return clock() - began
    with without_taps():
        began = clock()
        model(ids)
        return clock() - began


def _row(length: int, rounds: Sequence[tuple[float, float]], *, same: bool) -> TapsRow:
    costs = [with_taps / without - 1 for with_taps, without in rounds]
    with_taps, without = (statistics.median(each) for each in zip(*rounds, strict=True))
    return TapsRow(length, with_taps, without, statistics.median(costs), min(costs), max(costs), same)
