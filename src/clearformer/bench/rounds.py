"""Ours, peer, ours, peer …: what drifts on the machine falls on both."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clearformer.bench.contestant import Contestant, Written

Advance = Callable[[int, int], None]


@dataclass(frozen=True)
class Row:
    """One program's figure over all runs. `ratio` is the median over the rounds of the first program's figure by this
    one's of the same round; None for the first."""

    name: str
    unit: str
    median: float
    low: float
    high: float
    ratio: float | None


def alternate(
    contestants: Sequence[Contestant],
    prompts: Sequence[Sequence[int]],
    new: int,
    *,
    runs: int,
    warm_up: int,
    advance: Advance,
) -> list[list[Written]]:
    """`runs` rounds in which each contestant runs once, after one short run each to warm up; one list a contestant."""
    for contestant in contestants:
        contestant.write(prompts, warm_up)
    written: list[list[Written]] = [[] for _ in contestants]
    total = runs * len(contestants)
    for number in range(runs):
        for place, contestant in enumerate(contestants):
            written[place].append(contestant.write(prompts, new))
            advance(number * len(contestants) + place + 1, total)
    return written


def rows_of(names: Sequence[str], unit: str, figures: Sequence[Sequence[float]]) -> list[Row]:
    """A row a program; `figures` holds one number a round for each."""
    return [
        Row(name, unit, statistics.median(numbers), min(numbers), max(numbers), _ratio(figures[0], numbers, place))
        for place, (name, numbers) in enumerate(zip(names, figures, strict=True))
    ]


def _ratio(ours: Sequence[float], theirs: Sequence[float], place: int) -> float | None:
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True)) if place else None


def first_difference(written: Sequence[Sequence[Written]]) -> int | None:
    """The place in a row of the first token in which any two runs differ; None where all wrote the same."""
    texts = [zip(*run.tokens, strict=True) for runs in written for run in runs]
    for place, tokens in enumerate(zip(*texts, strict=True)):
        if len(set(tokens)) > 1:
            return place
    return None
