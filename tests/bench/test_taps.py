"""Taps taken out of the source: nothing else changes, nothing stays changed, and the clock sees what they cost."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from clearformer.bench.taps import measure_taps
from clearformer.bench.without_taps import stripped, without_taps
from clearformer.build import build
from clearformer.layers.attention import Attention
from clearformer.model import DecoderOnly
from clearformer.spec.presets import modern_decoder
from clearformer.taps import OFF, Tap


@pytest.fixture
def model() -> DecoderOnly:
    spec = modern_decoder(width=16, heads=2, kv_heads=1, hidden=32, layers=3, vocabulary=20)
    made = build(spec, generator=torch.Generator().manual_seed(0)).eval()
    assert isinstance(made, DecoderOnly)
    return made


class Counting(Tap):
    """Off, and counts how often it is asked."""

    asked = 0

    def __call__(self, name: str, value: Any) -> Any:
        self.asked += 1
        return value

    def hears(self, *names: str) -> bool:
        self.asked += 1
        return False


def test_no_tap_is_asked_and_every_number_stays(model: DecoderOnly) -> None:
    ids, tap, before = torch.arange(7)[None], Counting(), Attention.forward
    expected = model(ids, tap=tap)
    often = tap.asked
    assert often > 3 * 10
    with without_taps() as changed:
        assert changed > 10
        assert Attention.forward is not before
        assert torch.equal(model(ids, tap=tap), expected)
        assert tap.asked == often
    assert Attention.forward is before
    model(ids, tap=tap)
    assert tap.asked == 2 * often


def test_it_is_put_back_when_something_fails(model: DecoderOnly) -> None:
    before = Attention.forward
    with pytest.raises(ZeroDivisionError), without_taps():
        raise ZeroDivisionError
    assert Attention.forward is before


def _computed_for_listeners(x: int, tap: Tap = OFF) -> int:
    inside = tap.within("part")
    if tap.hears("squares") or tap.on:
        return -1
    return inside("squares", tap("sum", x + 1) ** 2)


def test_a_point_becomes_its_value_and_nobody_listens() -> None:
    class Deaf:
        """No tap at all: whatever is asked of it fails."""

    assert stripped(_computed_for_listeners)(2, Deaf()) == 9


def test_what_taps_cost_is_read_off_the_clock(model: DecoderOnly, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that moves by one at each forward pass, and by a tenth when the embedding's tap is asked."""
    now = 0.0

    def dear(self: Tap, name: str, value: Any) -> Any:
        nonlocal now
        now += 0.1 if name == "embed" else 0.0
        return value

    def clock() -> float:
        nonlocal now
        now += 0.5
        return now

    monkeypatch.setattr(Tap, "__call__", dear)
    done: list[tuple[int, int]] = []
    rows = measure_taps(model, [3, 5], runs=2, advance=lambda *each: done.append(each), clock=clock)
    assert [row.length for row in rows] == [3, 5]
    for row in rows:
        assert (row.with_taps, row.without) == (pytest.approx(0.6), pytest.approx(0.5))
        assert (row.cost, row.low, row.high) == (pytest.approx(0.2), pytest.approx(0.2), pytest.approx(0.2))
        assert row.same
    assert done == [(1, 4), (2, 4), (3, 4), (4, 4)]
