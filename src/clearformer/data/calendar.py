"""Dates at equal steps, and what the calendar says of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
from jaxtyping import Float

from clearformer.errors import DataError
from clearformer.messages import series as say

_FORMATS = ("%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M", "%Y/%m/%d", "%Y-%m")


def read_date(text: str) -> datetime | None:
    """A date as ISO 8601 or with slashes, year first; None for other text. A time zone is turned into UTC."""
    text = text.strip()
    try:
        return _without_zone(datetime.fromisoformat(text))
    except ValueError:
        pass
    for form in _FORMATS:
        try:
            return datetime.strptime(text, form)
        except ValueError:
            continue
    return None


@dataclass(frozen=True)
class Step:
    """From one row to the next: whole months (1, 3, 12 …) or else seconds."""

    months: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        return f"{self.months} months" if self.months else str(timedelta(seconds=self.seconds))

    def after(self, date: datetime, count: int = 1) -> datetime:
        """The date `count` steps later; a day that its month lacks becomes the month's last."""
        if not self.months:
            return date + count * timedelta(seconds=self.seconds)
        year, month = divmod(12 * date.year + date.month - 1 + count * self.months, 12)
        return date.replace(year=year, month=month + 1, day=min(date.day, _days_in(year, month + 1)))


def step_of(dates: Sequence[datetime], path: Path | str, lines: Sequence[int] = ()) -> Step:
    """The step that all dates keep; `lines` says where each stands, one behind the other below a header if left out.

    Raises DataError at the first that is missing, repeated or out of order."""
    step = Step(seconds=(dates[1] - dates[0]).total_seconds())
    months = Step(months=12 * (dates[1].year - dates[0].year) + dates[1].month - dates[0].month)
    # Two months of 31 days in turn look like a step of 31 days, until the third.
    even = all(later - before == dates[1] - dates[0] for before, later in pairwise(dates))
    if not even and months.months > 0 and months.after(dates[0]) == dates[1]:
        step = months
    for index in range(1, len(dates)):
        expected = step.after(dates[0], index)
        if dates[index] != expected or dates[index] <= dates[index - 1]:
            raise DataError(
                say.MISSING_DATE,
                path=path,
                line=lines[index] if lines else index + 2,
                before=dates[index - 1],
                expected=expected,
                found=dates[index],
            )
    return step


def features(dates: Sequence[datetime], step: Step) -> Float[np.ndarray, "rows F"]:
    """Hour, day of the week, day of the month, day of the year, each from −½ to ½ (Zhou et al. 2020, Informer,
    arXiv 2012.07436); only those that change from row to row."""
    day = np.array([(d.hour + d.minute / 60) / 23.99 - 0.5 for d in dates])
    week = np.array([d.weekday() / 6 - 0.5 for d in dates])
    month = np.array([(d.day - 1) / 30 - 0.5 for d in dates])
    year = np.array([(d.timetuple().tm_yday - 1) / 365 - 0.5 for d in dates])
    of_a_day, of_a_week = step.seconds < 86400, step.seconds < 7 * 86400
    kept = [day] * of_a_day + [week, month] * of_a_week + [year]
    return np.stack([year] if step.months else kept, 1)


def _without_zone(date: datetime) -> datetime:
    return date if date.tzinfo is None else date.astimezone(UTC).replace(tzinfo=None)


def _days_in(year: int, month: int) -> int:
    following = datetime(year + month // 12, month % 12 + 1, 1)
    return (following - timedelta(days=1)).day
