"""Dates: equal steps in seconds or months, against pandas-free arithmetic of the standard library."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pytest

from clearformer.data.calendar import Step, features, read_date, step_of
from clearformer.errors import DataError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2016-07-01 00:00:00", datetime(2016, 7, 1)),
        ("2016-07-01T06:30", datetime(2016, 7, 1, 6, 30)),
        ("2016/7/1 6:30", datetime(2016, 7, 1, 6, 30)),
        ("2016-07", datetime(2016, 7, 1)),
        ("2016-07-01T02:00:00+02:00", datetime(2016, 7, 1)),
        ("yesterday", None),
        ("", None),
    ],
)
def test_dates_are_read_as_they_are_written(text: str, expected: datetime | None) -> None:
    assert read_date(text) == expected


def months(first: datetime, count: int) -> list[datetime]:
    dates = [first]
    while len(dates) < count:
        dates.append((dates[-1].replace(day=28) + timedelta(days=4)).replace(day=1))
    return dates


def test_hours_days_and_months_are_steps() -> None:
    hours = [datetime(2016, 2, 28, 20) + timedelta(hours=each) for each in range(60)]
    assert step_of(hours, "x") == Step(seconds=3600)
    days = [datetime(2016, 2, 27) + timedelta(days=each) for each in range(5)]
    assert step_of(days, "x") == Step(seconds=86400)
    # July and August have 31 days each: two equal differences that are no step of days.
    assert step_of(months(datetime(2019, 7, 1), 9), "x") == Step(months=1)


def test_a_month_without_the_day_takes_its_last() -> None:
    assert Step(months=1).after(datetime(2023, 1, 31)) == datetime(2023, 2, 28)
    assert Step(months=1).after(datetime(2023, 1, 31), 2) == datetime(2023, 3, 31)
    assert Step(months=3).after(datetime(2023, 11, 30), 1) == datetime(2024, 2, 29)


@pytest.mark.parametrize("gone", [1, 7, 18])
def test_a_missing_row_is_named(gone: int) -> None:
    dates = [datetime(2016, 7, 1) + timedelta(hours=each) for each in range(20)]
    absent = dates.pop(gone)
    with pytest.raises(DataError) as caught:
        step_of(dates, "x.csv")
    if gone > 1:
        assert f"line {gone + 2}: expected {absent}" in str(caught.value)


def test_rows_out_of_order_or_repeated_are_refused() -> None:
    dates = [datetime(2016, 7, 1) + timedelta(hours=each) for each in range(6)]
    for wrong in (dates[::-1], [dates[0]] * 4, [*dates[:3], dates[2], *dates[3:]]):
        with pytest.raises(DataError):
            step_of(wrong, "x.csv")


def test_features_lie_in_their_range_and_tell_the_hour_and_weekday() -> None:
    dates = [datetime(2015, 12, 28) + timedelta(hours=each) for each in range(24 * 400)]
    found = features(dates, Step(seconds=3600))
    assert found.shape == (len(dates), 4)
    assert np.abs(found).max() <= 0.5 + 1e-3
    assert len(np.unique(found[:24, 0])) == 24
    np.testing.assert_allclose(found[24:, 0], found[:-24, 0])
    np.testing.assert_allclose(found[24 * 7 :, 1], found[: -24 * 7, 1])
    assert features(dates[::24], Step(seconds=86400)).shape[1] == 3
    assert features(months(datetime(2019, 1, 1), 12), Step(months=1)).shape[1] == 1
