"""What a cache of keys and values saves, and what it costs: by length, with it and without."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Literal

from clearformer.bench.children import Child, Told
from clearformer.bench.rounds import Advance
from clearformer.errors import MachineError
from clearformer.messages import bench as messages

Way = Literal["cache", "no cache", "transformers"]


@dataclass(frozen=True)
class CacheWork:
    """A model writes `new` tokens after prompts of each length, greedily."""

    model: str
    dtype: Literal["float32", "bfloat16", "int8", "int4"]
    backend: Literal["torch", "native"]
    new: int
    threads: int


@dataclass(frozen=True)
class CacheRow:
    """One way at one length, in seconds: `first` until the first new token, `each` for every further one (median, low,
    high over the rounds). `cache` is the bytes of keys and values at the end, `peak` what the process took beyond its
    weights, in bytes."""

    way: Way
    length: int
    first: float
    each: float
    low: float
    high: float
    cache: int
    peak: int


MOST_APART = 0.05
"""Of a time, its distance from the line up to which the times still count as linear in the length."""


@dataclass(frozen=True)
class Slope:
    """The line through the times of a token by length, least squares: `measured` seconds for each position more, and
    `start` without any. `expected` is the cache's bytes over the bandwidth; `apart` the largest distance of a time from
    the line, as a share of that time; None for two lengths, which any line goes through."""

    measured: float
    start: float
    expected: float
    apart: float | None

    @property
    def linear(self) -> bool | None:
        """None where two lengths cannot show it."""
        return None if self.apart is None else self.apart <= MOST_APART

    def at(self, length: float) -> float:
        """Seconds a token, on the line."""
        return self.start + self.measured * length


def measure_cache(
    work: CacheWork, ways: Sequence[Way], lengths: Sequence[int], *, per_token: int, runs: int, advance: Advance
) -> tuple[list[CacheRow], bool]:
    """Rows by length and way, in alternating runs, and whether all wrote the same at each length. `per_token` is the
    bytes that the cache keeps of a token. Raises MachineError where a way's process dies."""
    rows, same = [], True
    for place, length in enumerate(lengths):
        told = _at_length(work, ways, length, runs)
        rows += [
            _row(way, length, told[way], 0 if way == "no cache" else per_token * (length + work.new)) for way in ways
        ]
        same = same and len({tuple(each["tokens"]) for found in told.values() for each in found}) == 1
        advance(place + 1, len(lengths))
    return rows, same


def slope_of(rows: Sequence[CacheRow], per_token: int, read_gb_per_s: float) -> Slope | None:
    """The line through the times of our cached tokens, by least squares; None for a single length."""
    points = [(row.length, row.each) for row in rows if row.way == "cache"]
    if len(points) < 2:
        return None
    lengths, seconds = zip(*points, strict=True)
    slope, start = statistics.linear_regression(lengths, seconds)
    apart = max(abs(start + slope * length - each) / each for length, each in points)
    return Slope(slope, start, per_token / (read_gb_per_s * 1e9), apart if len(points) > 2 else None)


def _at_length(work: CacheWork, ways: Sequence[Way], length: int, runs: int) -> dict[Way, list[Told]]:
    told: dict[Way, list[Told]] = {way: [] for way in ways}
    settings = {**asdict(work), "length": length}
    with ExitStack() as stack:
        children = {
            way: stack.enter_context(Child("clearformer.bench.cache_child", {**settings, "way": way})) for way in ways
        }
        for number in range(runs + 1):
            for way, child in children.items():
                found = child.run()
                if found is None:
                    raise MachineError(messages.CHILD_DIED, way=way, length=length, detail=child.last_words or "–")
                # The first is the warming up; its peak counts all the same, for memory is never given back to it.
                told[way] += [found] * bool(number)
    return told


def _row(way: Way, length: int, told: Sequence[Told], cache: int) -> CacheRow:
    first = statistics.median(each["first"] for each in told)
    seconds = [each["each"] for each in told]
    peak = max(each["peak"] for each in told)
    return CacheRow(way, length, first, statistics.median(seconds), min(seconds), max(seconds), cache, peak)
