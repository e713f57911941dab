"""Numbers over time: a CSV file with a header, perhaps a column of dates, and columns of numbers."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
from jaxtyping import Float

from clearformer.data.calendar import Step, read_date, step_of
from clearformer.errors import DataError
from clearformer.messages import did_you_mean
from clearformer.messages import series as say

# A line this long is no row of a table.
_LONGEST_CELL = 10_000
_SHOWN = 60


@dataclass(frozen=True)
class Table:
    """`values` has a row a step and a column a channel; dates and their step are None where the file has none."""

    columns: tuple[str, ...]
    values: Float[np.ndarray, "rows C"]
    dates: tuple[datetime, ...] | None = None
    step: Step | None = None

    def only(self, columns: tuple[str, ...]) -> Table:
        """These columns, in this order."""
        kept = [self.columns.index(name) for name in columns]
        return Table(columns, self.values[:, kept], self.dates, self.step)

    def last(self, rows: int) -> Table:
        """The latest rows."""
        return Table(self.columns, self.values[-rows:], self.dates and self.dates[-rows:], self.step)

    def but_last(self, rows: int) -> Table:
        """All rows but the latest."""
        return Table(self.columns, self.values[:-rows], self.dates and self.dates[:-rows], self.step)


def read_table(path: Path, columns: tuple[str, ...] | None = None) -> Table:
    """The table of a CSV file (comma, semicolon or tab), or some of its columns.

    The first column is one of dates where its first cell is no number. Raises DataError, naming line and column, for
    what is no table, for dates that are missing or uneven, and for cells that are text, empty or not finite.
    """
    header, rows, at = _cells(path)
    dated = _number(rows[0][0]) is None and read_date(rows[0][0]) is not None
    names = header[1:] if dated else header
    _require_names(path, names, columns)
    wanted = names if columns is None else list(columns)
    values = np.empty((len(rows), len(wanted)))
    places = [header.index(name, int(dated)) for name in wanted]
    for index, row in enumerate(rows):
        for column, place in enumerate(places):
            values[index, column] = _value(row[place], path, at[index], wanted[column])
    if not dated:
        return Table(tuple(wanted), values)
    dates = [_date(row[0], path, at[index]) for index, row in enumerate(rows)]
    return Table(tuple(wanted), values, tuple(dates), step_of(dates, path, at))


def _cells(path: Path) -> tuple[list[str], list[list[str]], list[int]]:
    """The header, the rows, each as wide as the header, and the line of the file at which each row stands."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(say.NOT_TEXT, path=path, offset=error.start) from error
    except OSError as error:
        raise DataError(say.NO_FILE, path=path, detail=error.strerror or error) from error
    # Not splitlines: a cell may hold ends of lines that only Unicode knows.
    lines = text.split("\n")
    first = next((line for line in lines if line.strip()), "")
    reader = csv.reader(lines, delimiter=max(",;\t", key=first.count), strict=True)
    rows: list[list[str]] = []
    at: list[int] = []
    try:
        for row in reader:
            if max(map(len, row), default=0) > _LONGEST_CELL:
                raise csv.Error(f"a cell of more than {_LONGEST_CELL} characters")
            if row:
                rows.append(row)
                at.append(reader.line_num)
    except csv.Error as error:
        raise DataError(say.BAD_CSV, path=path, line=reader.line_num, detail=error) from error
    if len(rows) < 3:
        raise DataError(say.EMPTY, path=path, found=max(0, len(rows) - 1))
    header = [name.strip() for name in rows[0]]
    for line, row in zip(at[1:], rows[1:], strict=True):
        if len(row) != len(header):
            raise DataError(say.UNEVEN_ROW, path=path, line=line, expected=len(header), found=len(row))
    return header, rows[1:], at[1:]


def _require_names(path: Path, names: list[str], asked: tuple[str, ...] | None) -> None:
    if not names:
        raise DataError(say.NO_COLUMNS, path=path)
    for index, name in enumerate(names):
        if name in names[:index]:
            raise DataError(say.REPEATED_COLUMN, path=path, found=_shown(name))
    for name in asked or ():
        if name not in names:
            hint = did_you_mean(name, names)
            raise DataError(say.UNKNOWN_COLUMN, path=path, found=name, expected=", ".join(names), hint=hint)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _value(cell: str, path: Path, line: int, column: str) -> float:
    number = _number(cell)
    if number is None and cell.strip():
        raise DataError(say.NOT_A_NUMBER, path=path, line=line, column=_shown(column), found=_shown(repr(cell)))
    if number is None or not math.isfinite(number):
        raise DataError(say.NOT_FINITE, path=path, line=line, column=_shown(column), found=cell.strip() or "''")
    return number


def _shown(cell: str) -> str:
    """A cell as an error names it: enough to find it by."""
    return cell if len(cell) <= _SHOWN else cell[: _SHOWN - 1] + "…"


def _date(cell: str, path: Path, line: int) -> datetime:
    date = read_date(cell)
    if date is None:
        raise DataError(say.NO_DATE, path=path, line=line, found=_shown(repr(cell)))
    return date
