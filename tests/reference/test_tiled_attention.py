"""Tiles give what the table gives: the output, its gradients, and zeros where nothing is seen."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from clearformer.reference.attention import scaled_dot_product_attention
from clearformer.reference.tiled_attention import Bent, ByDistance, backward, forward

T, S = 7, 9


def drawn(rng: np.random.Generator, *, biased: bool, cap: float | None, masked: bool) -> tuple[list[np.ndarray], Bent]:
    arrays = [rng.standard_normal((2, 3, length, width)) for length, width in ((T, 4), (S, 4), (S, 5))]
    visible = rng.random((2, 1, T, S)) < 0.4 if masked else None
    if visible is not None:
        visible[0, 0, 2], visible[1, 0, :3, :4] = False, False
    return arrays, Bent(0.6, visible, rng.standard_normal((2, 3, T, S)) if biased else None, cap)


CHOICES = list(itertools.product((False, True), (None, 1.5), (False, True)))


@pytest.mark.parametrize(("biased", "cap", "masked"), CHOICES)
def test_any_tiles_give_the_tables_output(rng, biased: bool, cap: float | None, masked: bool) -> None:
    arrays, bent = drawn(rng, biased=biased, cap=cap, masked=masked)
    expected, _ = scaled_dot_product_attention(*arrays, bent.visible, bent.bias, bent.scale, bent.cap)
    for rows, columns in itertools.product((1, 2, 3, 7, 20), (1, 4, 9, 20)):
        mixed, logs = forward(*arrays, bent, rows=rows, columns=columns)
        np.testing.assert_allclose(mixed, expected, rtol=0, atol=1e-12)
        if masked:
            assert (mixed[0, :, 2] == 0).all()
            assert (logs[0, :, 2] == np.inf).all()


@pytest.mark.parametrize(("biased", "cap", "masked"), CHOICES)
def test_the_backward_pass_is_the_slope_of_the_forward_pass(rng, biased: bool, cap: float | None, masked: bool) -> None:
    arrays, bent = drawn(rng, biased=biased, cap=cap, masked=masked)
    pull = rng.standard_normal((2, 3, T, 5))
    mixed, logs = forward(*arrays, bent, rows=2, columns=4)
    found = backward(pull, *arrays, bent, mixed, logs, rows=3, columns=2)

    def value(moved: list[np.ndarray]) -> float:
        *given, bias = moved
        answer, _ = scaled_dot_product_attention(*given, bent.visible, bias, bent.scale, bent.cap)
        return float((answer * pull).sum())

    points = [*arrays, bent.bias]
    for place, gradient in enumerate(found):
        if points[place] is None:
            assert gradient is None
            continue
        for _ in range(12):
            at = tuple(int(rng.integers(size)) for size in points[place].shape)
            ends = []
            for step in (1e-6, -1e-6):
                moved = list(points)
                moved[place] = points[place].copy()
                moved[place][at] += step
                ends.append(value(moved))
            assert gradient[at] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-7)


@pytest.mark.parametrize("cap", [None, 1.5])
def test_a_bias_by_distance_gives_what_its_table_gives(rng, cap: float | None) -> None:
    """Its gradient is the sum along each diagonal of the table's."""
    arrays, bent = drawn(rng, biased=False, cap=cap, masked=True)
    queries, keys = np.arange(T) + 2, rng.permutation(S)
    distance = keys - queries[:, None]
    line = rng.standard_normal((3, 2 * (T + S)))
    by_distance = bent._replace(bias=ByDistance(line, queries, keys, -(T + S)))
    table = bent._replace(bias=line[:, distance + T + S])
    pull = rng.standard_normal((2, 3, T, 5))
    expected, logs = forward(*arrays, table, rows=T, columns=S)
    found, _ = forward(*arrays, by_distance, rows=2, columns=4)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    of_table = backward(pull, *arrays, table, expected, logs, rows=T, columns=S)
    of_line = backward(pull, *arrays, by_distance, expected, logs, rows=3, columns=2)
    for one, other in zip(of_line[:3], of_table[:3], strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    assert of_line.bias is not None
    assert of_line.bias.shape == (2, 3, 2 * (T + S))
    for place in range(2 * (T + S)):
        diagonal = of_table.bias[..., distance + T + S == place].sum(-1)
        np.testing.assert_allclose(of_line.bias[..., place], diagonal, rtol=0, atol=1e-12)


def test_hidden_tiles_are_never_touched(rng) -> None:
    """Numbers that would spoil everything stand where nobody looks."""
    (query, key, value), _ = drawn(rng, biased=False, cap=None, masked=False)
    visible = np.tri(T, S, dtype=bool)
    key[..., 8:, :] = value[..., 8:, :] = np.nan
    bent = Bent(0.6, visible)
    mixed, logs = forward(query, key, value, bent, rows=2, columns=4)
    assert np.isfinite(mixed).all()
    assert all(
        np.isfinite(each).all() for each in backward(mixed, query, key, value, bent, mixed, logs, rows=7, columns=8)[:1]
    )
