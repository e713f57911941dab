"""Intervals against SciPy and by drawing; steps within a budget against trying; verdicts by hand."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from clearformer.errors import UsageError
from clearformer.lab.budget import AIM, Budget, makespan, steps_within
from clearformer.lab.experiment import Outcome, Price
from clearformer.lab.interval import Interval, quantile
from clearformer.lab.notebook import Plan
from clearformer.lab.report import Report, middle, report_of
from lab.lab_trials import LOSS, Constant, experiment


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 10, 29, 100])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_quantiles_are_scipys(freedom: int, level: float) -> None:
    assert quantile(freedom, level) == pytest.approx(stats.t.ppf((1 + level) / 2, freedom), rel=1e-9)


def test_an_interval_is_scipys() -> None:
    values = [1.0, 1.4, 0.8, 1.1, 1.3]
    found = Interval.of(values)
    low, high = stats.t.interval(0.95, 4, loc=stats.tmean(values), scale=stats.sem(values))
    assert (found.mean, found.low, found.high) == pytest.approx((1.12, low, high))


def test_ninety_five_of_a_hundred_intervals_hold_the_mean() -> None:
    draw = random.Random(0)
    count = 4000
    held = 0
    for _ in range(count):
        found = Interval.of([draw.gauss(3, 2) for _ in range(5)])
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 3 <= found.high
    # Five standard errors of a share of 0.95.
    assert abs(held / count - 0.95) < 5 * (0.95 * 0.05 / count) ** 0.5


def test_one_seed_is_apart_from_nothing() -> None:
    one, far = Interval.of([1.0]), Interval.of([100.0, 100.1])
    assert (one.low, one.high) == (None, None)
    assert not one.apart(far)
    assert not far.apart(one)


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=7), st.integers(1, 3))
def test_the_makespan_is_between_what_must_hold(durations: list[float], workers: int) -> None:
    found = makespan(durations, workers)
    least = max(max(durations), sum(durations) / workers)
    assert least - 1e-9 <= found <= least * 2 + 1e-9


def test_the_makespan_of_equal_trials_is_whole_rounds() -> None:
    assert makespan([2.0] * 5, 2) == 6.0


@given(st.floats(0, 2), st.floats(0.001, 1), st.integers(1, 4), st.integers(1, 3))
def test_one_step_more_would_not_fit(fixed: float, step: float, seeds: int, workers: int) -> None:
    prices = {"a": Price(fixed, step), "b": Price(2 * fixed, step / 2)}

    def ends(steps: int) -> float:
        every = itertools.product(range(seeds), prices.values())
        return makespan([price.of(steps) for _, price in every], workers)

    budget = Budget(30.0, 0.0, lambda: 0.0)
    if ends(1) > budget.seconds * AIM:
        with pytest.raises(UsageError):
            steps_within(budget, prices, seeds, workers)
        return
    found = steps_within(budget, prices, seeds, workers)
    assert ends(found) <= budget.seconds * AIM < ends(found + 1)


def reported(*arms: Constant, higher: bool = False) -> Report:
    chosen = experiment(*arms)
    chosen = replace(chosen, figure=replace(LOSS, higher_is_better=higher))
    outcomes = {
        arm.name: [
            Outcome(diverged=True) if seed in arm.diverges else Outcome({"loss": value})
            for seed, value in enumerate(arm.values)
        ]
        for arm in arms
    }
    plan = Plan("toy", {}, 3, 1.0, 1, 1, {}, {arm.name: arm.known for arm in arms})
    return report_of(chosen, plan, outcomes)


LOW, HIGH, WIDE = Constant("a", (1.0, 1.1, 0.9)), Constant("b", (5.0, 5.1, 4.9)), Constant("b", (1.0, 9.0, 0.1))


@pytest.mark.parametrize(
    ("arms", "words", "held"),
    [
        ((LOW, HIGH), "“a” has the lowest loss, 1.000; its 95 % interval does not overlap with that of “b”", "so"),
        ((LOW, WIDE), "Undecided: “a” has the lowest loss", "undecided"),
        ((replace(HIGH, name="a"), replace(LOW, name="b")), "“b” has the lowest loss", "not so"),
        ((LOW, WIDE, replace(HIGH, name="c")), "overlaps with that of “b”, and not with that of “c”", "undecided"),
        ((replace(LOW, values=(1.0,)), replace(HIGH, values=(5.0,))), "one seed gives no interval", "undecided"),
    ],
)
def test_verdicts(arms: tuple[Constant, ...], words: str, held: str) -> None:
    report = reported(*arms)
    assert words in report.verdict("en")
    assert report.claims[0][1] == held
    assert all("\u4e00" <= c <= "\u9fff" or ord(c) < 0x4E00 or c in "，。；：“”" for c in report.verdict("zh"))


def test_the_higher_wins_where_it_is_better() -> None:
    assert reported(LOW, HIGH, higher=True).verdict("en").startswith("“b” has the highest loss, 5.000")


def test_what_diverged_is_counted_and_left_out_of_the_mean() -> None:
    report = reported(LOW, replace(HIGH, diverges=(0, 2)))
    words = report.verdict("en")
    assert words.startswith("Undecided: “a” has the lowest loss, 1.000. Of “b” a single seed is left")
    assert "overlap" not in words, "what has no interval overlaps with none"
    assert report.arms[1].intervals["loss"] == Interval(5.1, None, None, 1)
    assert report.verdict("en").endswith("Diverged, of the seeds: “b” (2).")
    alone = reported(LOW, replace(HIGH, diverges=(0, 1, 2))).verdict("en")
    assert (
        alone == "“a” alone has a figure, 1.000: there is nothing to compare it with. Diverged, of the seeds: “b” (3)."
    )
    everything = reported(replace(LOW, diverges=(0, 1, 2)), replace(HIGH, diverges=(0, 1, 2)))
    assert everything.verdict("en") == "Every trial diverged: nothing can be compared."
    assert everything.facts("en")["arms"][0]["mean"] is None


def test_what_the_arms_share_is_said_and_what_sets_them_apart() -> None:
    report = reported(LOW, replace(HIGH, known={"parameters": 9}))
    assert report.fairness("en") == "The arms differ in parameters, and what a figure owes to that is not told apart."
    alike = reported(LOW, HIGH)
    assert alike.fairness("en") is None
    promised = replace(alike, experiment=replace(alike.experiment, equal=("parameters",)))
    assert promised.fairness("en") == "Equal in all arms: parameters 7."
    assert promised.facts("en")["equal"] == ["parameters"]


def test_the_middle_of_curves() -> None:
    assert middle([([1, 2], [1.0, 3.0]), ([1, 2], [3.0, 5.0])]) == ([1, 2], [2, 4], [1, 3], [3, 5])
