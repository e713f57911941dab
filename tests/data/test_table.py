"""CSV files, good and bad: what is wrong is named by line and column."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pytest

from clearformer.data.scaler import Scaler
from clearformer.data.table import read_table
from clearformer.errors import DataError

GOOD = "date,load,oil\n2020-01-01 00:00,1,-2.5\n2020-01-01 01:00,2,3e1\n2020-01-01 02:00,4,0\n"


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "series.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_table_with_dates(tmp_path: Path, separator: str, mark: str) -> None:
    table = read_table(write(tmp_path, mark + GOOD.replace(",", separator)))
    assert table.columns == ("load", "oil")
    np.testing.assert_array_equal(table.values, [[1, -2.5], [2, 30], [4, 0]])
    assert table.dates is not None
    assert table.step is not None
    assert (table.step.seconds, table.dates[2].hour) == (3600, 2)


def test_a_table_without_dates_and_some_of_its_columns(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b,c\n1,2,3\n4,5,6\n")
    assert read_table(path).columns == ("a", "b", "c")
    assert read_table(path).dates is None
    np.testing.assert_array_equal(read_table(path, ("c", "a")).values, [[3, 1], [6, 4]])
    np.testing.assert_array_equal(read_table(path).last(1).values, [[4, 5, 6]])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "0 rows"),
        ("a,b\n", "0 rows"),
        ("a,b\n1,2\n", "1 rows"),
        (GOOD.replace("3e1", "thirty"), "line 3, column oil: expected a number, found 'thirty'"),
        (GOOD.replace("3e1", ""), "line 3, column oil"),
        (GOOD.replace("3e1", "NaN"), "line 3, column oil: the cell is NaN"),
        (GOOD.replace("3e1", "inf"), "line 3, column oil: the cell is inf"),
        (GOOD.replace("2020-01-01 01:00", "soon"), "line 3: expected a date"),
        (GOOD.replace("2020-01-01 01:00", ""), "line 3: expected a date"),
        (GOOD.replace("02:00", "03:00"), "line 4: expected 2020-01-01 02:00:00"),
        (GOOD.replace(",oil", ",load"), "two columns called load"),
        (GOOD.replace(",30", ",3,0").replace("3e1", "3,0"), "line 3: expected 3 cells, found 4"),
        ("date\n2020-01-01\n2020-01-02\n", "no column of numbers"),
        ('a,b\n1,"2\n3,4\n5,6\n', "no CSV"),
        ("a\n" + "1" * 20_000 + "\n2\n", "10000 characters"),
        (b"a,b\n1,2\n\xff\xfe,3\n", "byte 8"),
        (b"\x00\x01\x02\n\x00\n\x00\n", "column"),
    ],
)
def test_a_bad_table_is_refused_by_line_and_column(tmp_path: Path, text: str | bytes, named: str) -> None:
    with pytest.raises(DataError) as caught:
        read_table(write(tmp_path, text))
    assert named in caught.value.cause()
    assert caught.value.remedy("zh")


def test_absent_files_and_columns(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no readable table"):
        read_table(tmp_path / "absent.csv")
    with pytest.raises(DataError, match="no readable table"):
        read_table(tmp_path)
    with pytest.raises(DataError, match="Did you mean load"):
        read_table(write(tmp_path, GOOD), ("lod",))


def test_text_in_another_column_does_not_matter_when_one_is_chosen(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD.replace("3e1", "thirty"))
    np.testing.assert_array_equal(read_table(path, ("load",)).values, [[1], [2], [4]])


def test_the_scaler_against_numpy_and_its_inverse() -> None:
    rows = np.random.default_rng(0).normal(5, 3, (50, 3))
    rows[:, 1] = 0.1
    scaler = Scaler.fitted(rows)
    standard = scaler.standard(rows)
    np.testing.assert_allclose(standard.mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(standard.std(0), [1, 0, 1], atol=1e-12)
    np.testing.assert_allclose(scaler.restored(standard), rows)
    assert Scaler.of(scaler.facts()) == scaler


@pytest.mark.skipif("CLEARFORMER_DATA" not in os.environ, reason="CLEARFORMER_DATA names no folder")
def test_ett_against_the_csv_module() -> None:
    path = Path(os.environ["CLEARFORMER_DATA"], "ett", "ETTh1.csv")
    table = read_table(path)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(table.values) == 17420
    np.testing.assert_array_equal(table.values[:, -1], [float(row["OT"]) for row in rows])
    assert table.dates is not None
    assert [str(date) for date in table.dates[::1000]] == [row["date"] for row in rows[::1000]]


def test_lines_are_named_as_they_stand_in_the_file(tmp_path: Path) -> None:
    """Blank lines count, wherever they are; ends of lines that only Unicode knows do not."""
    path = tmp_path / "t.csv"
    rows = ["", "date,oil", "", "2020-01-01 00:00,1", "", "", "2020-01-01 01:00,2", "2020-01-01 02:00,3"]
    for spoilt, line in {
        "2020-01-01 01:00,x": 7,
        "soon,2": 7,
        "2020-01-01 00:00,2": 7,
        "2020-01-01 01:00,2,3": 7,
    }.items():
        path.write_text("\n".join([*rows[:6], spoilt, rows[7]]) + "\n")
        with pytest.raises(DataError, match=f"line {line}\\b"):
            read_table(path)
    path.write_text("name\x0b,oil\n1,2\n3,4\n")
    assert read_table(path).columns == ("name", "oil")


def test_a_long_cell_makes_no_long_sentence(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for text in (f"a,b\n1,2\n3,{'x' * 5000}\n", f"{'n' * 5000},b\nx,2\n3,4\n", f"a,b\n2020-01-01,2\n{'d' * 999},4\n"):
        path.write_text(text)
        with pytest.raises(DataError) as caught:
            read_table(path)
        assert len(caught.value.cause("en")) < 250 + len(str(path))
