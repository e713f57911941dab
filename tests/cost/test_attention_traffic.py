"""What the reckoning says is what the twin's tiled attention reads and returns, and the paper's law follows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clearformer.cost.attention_traffic import Sizes, backward_by_tiles, by_table, by_tiles, rows_that_fit
from clearformer.reference.tiled_attention import Bent, backward, forward


class Watched(np.ndarray):
    """Counts the numbers that are cut out of it, not those of what is made from it."""

    read, counts = 0, False

    def __getitem__(self, place: Any) -> Any:
        found = np.asarray(self)[place]
        Watched.read += found.size * self.counts
        return found


def watch(array: np.ndarray) -> np.ndarray:
    seen = array.view(Watched)
    seen.counts = True
    return seen


def watched(*shape: int) -> np.ndarray:
    return watch(np.random.default_rng(0).standard_normal(shape))


@pytest.mark.parametrize("rows", [1, 2, 5, 12, 50])
@pytest.mark.parametrize(("T", "S", "K", "U"), [(12, 12, 4, 4), (12, 7, 3, 5), (5, 20, 2, 2)])
def test_the_reckoning_is_what_is_moved(T: int, S: int, K: int, U: int, rows: int) -> None:
    query, key, value = watched(T, K), watched(S, K), watched(S, U)
    sizes = Sizes(T, S, K, U)
    Watched.read = 0
    mixed, logs = forward(query, key, value, Bent(1.0), rows=rows, columns=3)
    assert by_tiles(sizes, rows).value == Watched.read + mixed.size + logs.size
    pull, mixed, logs = watched(T, U), watch(mixed), watch(logs)
    Watched.read = 0
    backward(pull, query, key, value, Bent(1.0), mixed, logs, rows=2, columns=rows)
    own = 2 * pull.size + T + S * (K + U) + -(-S // rows) * T * (2 * K + 1)
    assert backward_by_tiles(sizes, rows).value == Watched.read + own


def test_twice_the_small_memory_halves_the_traffic_and_twice_the_width_fourfolds_it() -> None:
    """Theorem 2: Θ(T²·K²/M)."""
    long = Sizes(2**16, 2**16, 64, 64)

    def moved(sizes: Sizes, memory: int) -> int:
        return by_tiles(sizes, rows_that_fit(memory, sizes.key_width)).value

    assert moved(long, 2**16) / moved(long, 2**17) == pytest.approx(2, rel=0.01)
    wide, narrow = Sizes(2**16, 2**16, 128, 128), long
    assert moved(wide, 2**16) / moved(narrow, 2**16) == pytest.approx(4, rel=0.01)
    double = Sizes(2**17, 2**17, 64, 64)
    assert moved(double, 2**16) / moved(long, 2**16) == pytest.approx(4, rel=0.01)
    # 8·T²·K²/M against 4·T²: by tiles less is moved from M = 2·K² on.
    assert moved(long, 2**17) / by_table(long).value == pytest.approx(8 * 64**2 / 2**17 / 4, rel=0.05)


def test_formulas_are_in_the_letters_of_the_dimension_key() -> None:
    found = by_tiles(Sizes(10, 10, 4, 4), 3)
    assert found.text == "T·K + 4·S·(K + U) + T·(U + 1)"
