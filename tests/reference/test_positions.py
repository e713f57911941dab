"""What each kind of position promises: only distance counts, and each in its own published way."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers.models.t5.modeling_t5 import T5Attention

from clearformer.reference.positions.alibi import alibi_bias, slopes
from clearformer.reference.positions.relative import buckets, relative_bias
from clearformer.reference.positions.rope_scaling import powers
from clearformer.reference.positions.rotary import rotate, turn
from clearformer.reference.positions.sinusoidal import sinusoidal
from clearformer.spec import RelativeBias, Rotary

WIDTH = 12


def test_sinusoids_are_the_papers_formula() -> None:
    table = sinusoidal(np.arange(50), WIDTH)
    for position in (0, 1, 49):
        for i in range(WIDTH // 2):
            angle = position / 10000 ** (2 * i / WIDTH)
            assert table[position, 2 * i] == pytest.approx(np.sin(angle), abs=1e-12)
            assert table[position, 2 * i + 1] == pytest.approx(np.cos(angle), abs=1e-12)
    halves = sinusoidal(np.arange(50), WIDTH, layout="halves")
    np.testing.assert_array_equal(halves, np.concatenate([table[:, 0::2], table[:, 1::2]], axis=1))


@pytest.mark.parametrize("step", [1, 7, 100])
def test_a_step_rotates_every_sinusoid_alike(step: int) -> None:
    """PE(pos + k) is one linear map of PE(pos), the same for every pos, and it is a rotation."""
    before, after = sinusoidal(np.arange(40), WIDTH), sinusoidal(np.arange(40) + step, WIDTH)
    step_map, *_ = np.linalg.lstsq(before[:20], after[:20], rcond=None)
    np.testing.assert_allclose(before[20:] @ step_map, after[20:], atol=1e-8)
    angle = step * powers(10000.0, WIDTH)
    expected = np.zeros((WIDTH, WIDTH))
    for i, turned in enumerate(angle):
        pair = slice(2 * i, 2 * i + 2)
        expected[pair, pair] = [[np.cos(turned), np.sin(turned)], [-np.sin(turned), np.cos(turned)]]
    np.testing.assert_allclose(after @ expected, before, atol=1e-12)
    np.testing.assert_allclose(expected @ expected.T, np.eye(WIDTH), atol=1e-12)


def _scores(layout: str, query: np.ndarray, key: np.ndarray, at: np.ndarray, before: np.ndarray) -> np.ndarray:
    frequency = powers(10000.0, WIDTH)
    turned = [
        rotate(x, np.cos(position[:, None] * frequency), np.sin(position[:, None] * frequency), layout)
        for x, position in ((query, at), (key, before))
    ]
    return (turned[0] * turned[1]).sum(axis=-1)


@pytest.mark.parametrize("layout", ["halves", "interleaved"])
def test_rotary_scores_depend_on_distance_alone(layout: str, rng) -> None:
    query, key = (np.tile(rng.standard_normal(WIDTH), (60, 1)) for _ in range(2))
    at = np.arange(60)
    scores = _scores(layout, query, key, at + 5, at)
    np.testing.assert_allclose(scores, scores[0], atol=1e-12)
    assert abs(_scores(layout, query, key, at + 6, at)[0] - scores[0]) > 1e-3


@pytest.mark.parametrize("layout", ["halves", "interleaved"])
def test_rotary_scores_are_the_complex_product(layout: str, rng) -> None:
    """Re Σ q conj(k) e^{i(m−n)θ}, with the pairs read as complex numbers."""
    query, key = rng.standard_normal((2, 30, WIDTH))
    at, before = rng.integers(0, 1000, (2, 30))
    first, second = (slice(0, 6), slice(6, 12)) if layout == "halves" else (slice(0, 12, 2), slice(1, 12, 2))
    q, k = query[:, first] + 1j * query[:, second], key[:, first] + 1j * key[:, second]
    expected = (q * k.conj() * np.exp(1j * (at - before)[:, None] * powers(10000.0, WIDTH))).sum(axis=1).real
    np.testing.assert_allclose(_scores(layout, query, key, at, before), expected, atol=1e-10)


def test_partial_rotation_leaves_the_rest(rng) -> None:
    x, position = rng.standard_normal((1, 2, 5, 8)), np.arange(5)[None]
    turned = turn(Rotary(width=4), x, position, np.array([5]))
    np.testing.assert_array_equal(turned[..., 4:], x[..., 4:])
    np.testing.assert_allclose(turned[..., :4], turn(Rotary(), x[..., :4], position, np.array([5])))
    assert np.abs(turned[..., 1:, :4] - x[..., 1:, :4]).min() > 0


@pytest.mark.parametrize("heads", [1, 2, 8, 12, 6])
def test_alibi_slopes_are_the_papers(heads: int) -> None:
    """Written as in the paper's code: a power of two starts at its own ratio, others borrow from twice the power."""

    def of_power(count: int) -> list[float]:
        start = 2 ** (-8 / count)
        return [start ** (i + 1) for i in range(count)]

    power = 2 ** int(np.floor(np.log2(heads)))
    expected = of_power(power) + of_power(2 * power)[0::2][: heads - power]
    np.testing.assert_allclose(slopes(heads), expected)


def test_alibi_depends_on_distance_alone() -> None:
    at = np.arange(10)[None]
    bias = alibi_bias(4, at, at)
    np.testing.assert_allclose(alibi_bias(4, at + 100, at + 100), bias)
    for head, slope in enumerate(slopes(4)):
        np.testing.assert_allclose(bias[0, head, 7], -slope * np.abs(7 - np.arange(10)))


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize(("count", "reach"), [(32, 128), (8, 20), (16, 50), (32, 32), (10, 160)])
def test_buckets_are_t5s(two_sided: bool, count: int, reach: int) -> None:
    distance = np.arange(-300, 301)
    theirs = T5Attention._relative_position_bucket(torch.from_numpy(distance), two_sided, count, reach)
    spec = RelativeBias(count, reach, two_sided)
    np.testing.assert_array_equal(buckets(spec, distance), theirs.numpy())


def test_relative_bias_depends_on_distance_alone(rng) -> None:
    spec, table, at = RelativeBias(8, 20, True), rng.standard_normal((8, 3)), np.arange(10)[None]
    bias = relative_bias(spec, table, at, at)
    np.testing.assert_array_equal(relative_bias(spec, table, at + 50, at + 50), bias)
    np.testing.assert_array_equal(bias[0, :, 2, 2], table[0])
    np.testing.assert_array_equal(bias[0, :, 0, 3], bias[0, :, 4, 7])
    assert np.abs(bias[0, :, 0, 3] - bias[0, :, 3, 0]).max() > 0
