"""Packed weights against the gguf package's own decoding, and against the error that each format may have."""

from __future__ import annotations

import numpy as np
import pytest
from gguf.constants import GGMLQuantizationType as Kind
from gguf.quants import dequantize, quantize

from clearformer.native.library import found
from clearformer.native.matrix import Format, Matrix, Place, Rows, Source

pytestmark = pytest.mark.skipif(found().handle is None, reason="the kernels are not built")

ROWS, COLUMNS = 37, 96


def weights(seed: int, columns: int = COLUMNS) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.05, (ROWS, columns)).astype(np.float32)


def packed(format: Format, source: Source, content: np.ndarray, columns: int) -> np.ndarray:
    matrix = Matrix(format, len(content), columns)
    matrix.fill(Rows(source, content, len(content), columns))
    return matrix.numbers()


@pytest.mark.parametrize(
    ("kind", "format"),
    [
        (Kind.Q4_0, "int4"),
        (Kind.Q4_1, "int4"),
        (Kind.Q4_0, "int8"),
        (Kind.Q8_0, "int8"),
        (Kind.Q4_1, "float32"),
        (Kind.Q8_0, "float32"),
    ],
)
def test_ggufs_blocks_keep_every_number(kind: Kind, format: Format) -> None:
    content = np.ascontiguousarray(quantize(weights(1), kind))
    np.testing.assert_array_equal(packed(format, kind.name, content, COLUMNS), dequantize(content, kind))


@pytest.mark.parametrize("columns", [1, 31, 32, 33, 95])
def test_floats_are_kept_or_rounded_to_their_format(columns: int) -> None:
    given = weights(2, columns)
    np.testing.assert_array_equal(packed("float32", "F32", given, columns), given)
    rounded = packed("bfloat16", "F32", given, columns)
    assert np.abs(rounded - given).max() <= np.abs(given).max() * 2**-8
    np.testing.assert_array_equal(packed("bfloat16", "F32", rounded, columns), rounded)
    halves = given.astype(np.float16)
    np.testing.assert_array_equal(packed("float32", "F16", halves, columns), halves.astype(np.float32))


@pytest.mark.parametrize(("format", "steps"), [("int8", 254), ("int4", 15)])
def test_a_group_is_off_by_half_a_step_at_most(format: Format, steps: int) -> None:
    given = weights(3)
    groups = given.reshape(ROWS, -1, 32)
    reach = np.ptp(groups, -1) if format == "int4" else 2 * np.abs(groups).max(-1)
    # Scale and minimum are halves, of eleven digits.
    bound = reach / steps / 2 + 2**-10 * np.abs(groups).max(-1)
    gap = np.abs(packed(format, "F32", given, COLUMNS).reshape(groups.shape) - groups).max(-1)
    assert (gap <= bound).all()


def test_rows_go_where_they_are_sent() -> None:
    gate, up = weights(4), weights(5)
    matrix = Matrix("float32", 96, COLUMNS)
    for half, part in enumerate((gate, up)):
        matrix.fill(Rows("F32", part, ROWS, COLUMNS), Place(16 * half, 16, 32))
    found_rows = matrix.numbers()
    for half, part in enumerate((gate, up)):
        for row in range(ROWS):
            np.testing.assert_array_equal(found_rows[row // 16 * 32 + 16 * half + row % 16], part[row])


@pytest.mark.parametrize("format", ["float32", "bfloat16", "int8", "int4"])
@pytest.mark.parametrize("place", [Place(), Place(16, 16, 32)])
def test_several_threads_pack_what_one_does(format: Format, place: Place) -> None:
    given = np.random.default_rng(7).normal(0, 0.05, (2500, COLUMNS)).astype(np.float32)
    found_numbers = []
    for threads in (1, 2, 3):
        matrix = Matrix(format, 5024, COLUMNS)
        matrix.fill(Rows("F32", given, len(given), COLUMNS), place, threads=threads)
        found_numbers.append(matrix.numbers())
    assert found_numbers[0].any(1).sum() == len(given)
    np.testing.assert_array_equal(found_numbers[1], found_numbers[0])
    np.testing.assert_array_equal(found_numbers[2], found_numbers[0])


@pytest.mark.parametrize("format", ["int8", "int4"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_stays_none(format: Format, bad: float) -> None:
    given = weights(6)
    given[3, 40] = bad
    numbers = packed(format, "F32", given, COLUMNS)
    assert np.isnan(numbers[3, 32:64]).all()
    assert np.isfinite(np.delete(numbers, 3, 0)).all()
    assert np.isfinite(numbers[3, :32]).all()
