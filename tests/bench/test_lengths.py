"""Benches over lengths: what is run, what is refused, and what is read off the runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from clearformer.bench import attention, cache
from clearformer.bench.attention import AttentionWork, measure_attention
from clearformer.bench.cache import CacheRow, CacheWork, Slope, measure_cache, slope_of
from clearformer.bench.children import Child
from clearformer.bench.pictures import draw_attention, draw_cache
from clearformer.errors import MachineError

WORK = AttentionWork(1, 2, 2, 8, "float32", training=True)


def nothing(done: int, total: int) -> None:
    return None


class Puppet:
    """A child that answers what its settings say, and dies where they say so."""

    order: ClassVar[list[str]] = []

    def __init__(self, module: str, settings: dict[str, Any]) -> None:
        self.name = settings.get("kernel") or settings["way"]
        self.length, self.alive, self.last_words, self.runs = settings["length"], True, "a reason", 0

    def __enter__(self) -> Puppet:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def run(self) -> dict[str, Any] | None:
        Puppet.order.append(self.name)
        self.runs += 1
        if self.name in ("dies", "tiled") and self.length > 4:
            self.alive = False
            return None
        seconds = {"plain": 4.0, "tiled": 1.0, "sdpa": 2.0}.get(self.name, 1.0 + self.length * 1e-3) * self.runs
        tokens = [1, 2] if self.name != "transformers" else [1, 3]
        return {"seconds": seconds, "first": 2.0, "each": 1.0 + self.length * 1e-3, "peak": 7, "tokens": tokens}


@pytest.fixture
def puppets(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    for room in (attention, cache):
        monkeypatch.setattr(room, "Child", Puppet)
    Puppet.order = []
    return iter(Puppet.order)


@pytest.mark.usefixtures("puppets")
def test_kernels_take_turns_and_the_first_turn_is_not_counted() -> None:
    rows = measure_attention(WORK, [4], runs=2, threads=1, advance=nothing)
    assert Puppet.order == ["plain", "tiled", "sdpa"] * 3
    assert [(row.kernel, row.runs, row.median, row.low, row.high) for row in rows] == [
        ("plain", 2, 10.0, 8.0, 12.0),
        ("tiled", 2, 2.5, 2.0, 3.0),
        ("sdpa", 2, 5.0, 4.0, 6.0),
    ]
    assert [row.ratio for row in rows] == [0.5, 2.0, 1.0]


@pytest.mark.usefixtures("puppets")
def test_what_would_not_fit_is_not_run_and_what_dies_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "would_fit", lambda needed: needed < 50_000)
    plain, tiled, sdpa = measure_attention(WORK, [64], runs=1, threads=1, advance=nothing)
    assert "plain" not in Puppet.order
    assert (plain.outcome, plain.runs, plain.median, plain.peak) == ("too large", 0, None, None)
    assert (tiled.outcome, tiled.median) == ("failed", None)
    assert sdpa.outcome == "measured"
    assert plain.predicted > sdpa.predicted > 0


@pytest.mark.usefixtures("puppets")
def test_ways_are_compared_and_the_slope_is_that_of_the_cache() -> None:
    work = CacheWork("toy", "float32", "torch", 2, 1)
    rows, same = measure_cache(work, ("cache", "no cache"), [100, 200], per_token=10, runs=1, advance=nothing)
    assert same
    assert [(row.way, row.length, row.cache) for row in rows] == [
        ("cache", 100, 1020),
        ("no cache", 100, 0),
        ("cache", 200, 2020),
        ("no cache", 200, 0),
    ]
    found = slope_of(rows, 10, 5.0)
    assert found is not None
    assert (found.measured, found.start) == (pytest.approx(1e-3), pytest.approx(1.0))
    assert (found.expected, found.linear) == (pytest.approx(2e-9), None)
    assert slope_of(rows[:2], 10, 5.0) is None
    _, same = measure_cache(work, ("cache", "transformers"), [100], per_token=10, runs=1, advance=nothing)
    assert not same


@pytest.mark.parametrize(("bend", "linear"), [(0.0, True), (2e-7, False)])
def test_a_known_line_is_found_and_a_curve_is_not_called_linear(bend: float, linear: bool) -> None:
    """A clock that shows 8 ms and 1 µs a position: the bytes of a cache of 24,000 a position, read at 24 GB/s."""
    times = {length: 8e-3 + 1e-6 * length + bend * length**1.5 for length in (128, 512, 1024, 1920)}
    rows = [CacheRow("cache", length, 1.0, each, each, each, 1, 1) for length, each in times.items()]
    rows += [CacheRow("no cache", length, 1.0, 9.0 * length, 1.0, 1.0, 0, 1) for length in times]
    found = slope_of(rows, 24_000, 24.0)
    assert found is not None
    assert found.expected == pytest.approx(1e-6)
    assert found.linear is linear
    assert found.apart is not None
    if linear:
        assert (found.measured, found.start, found.apart) == (
            pytest.approx(1e-6),
            pytest.approx(8e-3),
            pytest.approx(0),
        )
        assert found.at(1000) == pytest.approx(9e-3)
    else:
        least = max(abs(found.at(length) - each) / each for length, each in times.items())
        assert found.apart == pytest.approx(least)
        assert least > 0.05


@pytest.mark.usefixtures("puppets")
def test_a_way_that_dies_is_named_with_its_last_words() -> None:
    with pytest.raises(MachineError, match=r"dies at 8 tokens ended early \(a reason\)"):
        measure_cache(CacheWork("toy", "float32", "torch", 2, 1), ("dies",), [8], per_token=1, runs=1, advance=nothing)  # type: ignore[arg-type]


def test_a_real_child_measures_and_one_that_fails_says_why() -> None:
    settings = {"batch": 1, "heads": 2, "kv_heads": 1, "width": 8, "dtype": "float32", "training": True}
    settings |= {"window": None, "dropout": 0.1, "kernel": "tiled", "length": 2048, "threads": 1}
    with Child("clearformer.bench.attention_child", settings) as child:
        told = child.run()
    assert told is not None
    assert told["seconds"] > 0
    assert 0 < told["peak"] < 2 * 2048**2 * 4
    with Child("clearformer.bench.attention_child", {**settings, "kv_heads": -1}) as child:
        assert not child.alive
        assert child.run() is None
        assert "negative" in child.last_words


def test_pictures_are_drawn_with_and_without_gaps(tmp_path) -> None:
    rows = [
        attention.AttentionRow("plain", 1024, "measured", 1, 0.1, 0.1, 0.1, 1.0, 100, 110),
        attention.AttentionRow("plain", 65536, "too large", 0, None, None, None, None, 10**10, None),
        attention.AttentionRow("tiled", 1024, "measured", 1, 0.1, 0.1, 0.1, 1.0, 100, 110),
    ]
    assert draw_attention(tmp_path / "a" / "attention.png", rows, "zh").read_bytes().startswith(b"\x89PNG")
    found = draw_cache(tmp_path / "cache.svg", [CacheRow("cache", 8, 0.1, 0.1, 0.1, 0.1, 1, 1)], None, "en")
    assert "<svg" in found.read_text()
    two = [CacheRow("cache", length, 0.1, 0.1, 0.1, 0.1, 1, 1) for length in (8, 16)]
    with_limit = draw_cache(tmp_path / "limit.svg", two, Slope(1e-3, 0.1, 2e-3, None), "zh")
    # The growth at the memory's rate is one line more.
    assert with_limit.read_text().count("stroke-dasharray: 1") > found.read_text().count("stroke-dasharray: 1")
