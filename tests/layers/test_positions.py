"""Position laws, and the published code: rotary by complex numbers, T5's buckets, ALiBi, sinusoids."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention

from clearformer import spec as s
from clearformer.layers.positions.alibi import distance_penalty
from clearformer.layers.positions.relative import RelativeBias, bucket
from clearformer.layers.positions.rotary import rotation
from clearformer.layers.positions.sinusoidal import sinusoids
from drawing.built import drawn

DISTANCES = torch.arange(-300, 301)
F64 = torch.float64


def turn(x: torch.Tensor, spec: s.Rotary, positions: torch.Tensor) -> torch.Tensor:
    bound = torch.full((1,), int(positions.max()) + 1)
    return rotation(spec, x.shape[-1], positions, bound, F64).turn(x)


@pytest.mark.parametrize("layout", ["halves", "interleaved"])
@pytest.mark.parametrize("width", [None, 4])
def test_rotary_is_multiplication_by_a_complex_number(layout: s.Layout, width: int | None) -> None:
    """Each pair, read as a + ib, is multiplied by e^{i·pos·frequency}; the rest of the head stays."""
    x = torch.randn(2, 3, 5, 8, dtype=F64, generator=torch.Generator().manual_seed(0))
    positions = torch.tensor([[0, 1, 2, 3, 900], [7, 7, 0, 4, 5]])
    found = turn(x, s.Rotary(100.0, width, layout), positions)
    R = width or 8
    frequencies = torch.tensor([100.0 ** (-2 * i / R) for i in range(R // 2)], dtype=F64)
    angle = torch.exp(1j * positions[:, None, :, None] * frequencies)
    halves = layout == "halves"
    first, second = (slice(0, R // 2), slice(R // 2, R)) if halves else (slice(0, R, 2), slice(1, R, 2))
    turned = torch.complex(x[..., first], x[..., second]) * angle
    torch.testing.assert_close(found[..., first], turned.real, rtol=0, atol=1e-12)
    torch.testing.assert_close(found[..., second], turned.imag, rtol=0, atol=1e-12)
    assert torch.equal(found[..., R:], x[..., R:])


@pytest.mark.parametrize("layout", ["halves", "interleaved"])
def test_rotary_scores_depend_on_the_distance_alone(layout: s.Layout) -> None:
    generator = torch.Generator().manual_seed(1)
    query, key = (torch.randn(8, dtype=F64, generator=generator).expand(1, 1, 40, 8) for _ in range(2))
    positions = torch.arange(40)[None]
    spec = s.Rotary(layout=layout)
    scores = (turn(query, spec, positions) @ turn(key, spec, positions).transpose(-2, -1))[0, 0]
    by_distance = scores[0, 0].new_tensor([float(scores[max(-d, 0), max(d, 0)]) for d in range(-39, 40)])
    distance = positions[0][None, :] - positions[0][:, None]
    torch.testing.assert_close(scores, by_distance[distance + 39], rtol=0, atol=1e-11)
    assert by_distance.std() > 0.1


def test_a_later_sinusoid_is_a_rotation_of_an_earlier_one() -> None:
    """PE(pos + k) is one matrix, made of 2×2 rotations that depend on k alone, times PE(pos)."""
    width, k = 8, 5
    table = sinusoids(torch.arange(60)[None], width)[0]
    matrix = torch.zeros(width, width, dtype=F64)
    for pair in range(width // 2):
        angle = k * 10000.0 ** (-2 * pair / width)
        cos, sin = math.cos(angle), math.sin(angle)
        matrix[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2] = torch.tensor([[cos, sin], [-sin, cos]], dtype=F64)
    torch.testing.assert_close(table[:-k] @ matrix.T, table[k:], rtol=0, atol=1e-12)


@pytest.mark.parametrize("interleaved", [True, False])
def test_sinusoids_are_the_papers_formula(interleaved: bool) -> None:
    table = sinusoids(torch.tensor([[0, 1, 77]]), 6, interleaved=interleaved)[0]
    for row, position in enumerate((0, 1, 77)):
        angles = [position / 10000 ** (2 * i / 6) for i in range(3)]
        sines, cosines = [math.sin(a) for a in angles], [math.cos(a) for a in angles]
        pairs = [number for pair in zip(sines, cosines, strict=True) for number in pair]
        expected = torch.tensor(pairs if interleaved else sines + cosines, dtype=F64)
        torch.testing.assert_close(table[row], expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("two_sided", [True, False])
@pytest.mark.parametrize(("buckets", "max_distance"), [(32, 128), (8, 20), (64, 1000), (12, 9)])
def test_buckets_are_t5s(two_sided: bool, buckets: int, max_distance: int) -> None:
    spec = s.RelativeBias(buckets, max_distance, two_sided)
    expected = T5Attention._relative_position_bucket(DISTANCES, two_sided, buckets, max_distance)
    assert torch.equal(bucket(DISTANCES, spec), expected)


def test_relative_bias_reads_its_table_by_bucket_and_head() -> None:
    bias = RelativeBias(3, spec := s.RelativeBias(8, 20, two_sided=True))
    torch.nn.init.normal_(bias.weight, generator=torch.Generator().manual_seed(0))
    query, key = torch.tensor([[4, 9]]), torch.tensor([[0, 4, 30]])
    table = bias(query, key)
    for t, s_, h in np.ndindex(2, 3, 3):
        distance = key[0, s_] - query[0, t]
        assert table[0, h, t, s_] == bias.weight[bucket(distance, spec), h]


@pytest.mark.parametrize("heads", range(1, 18))
def test_alibi_is_blooms(heads: int) -> None:
    """Bloom adds slope · key position: −slope · distance but for one number a query, which softmax drops."""
    length = 6
    places = torch.arange(length)[None]
    ours = distance_penalty(heads, 8.0, places, places, torch.float32)[0]
    theirs = build_alibi_tensor(torch.ones(1, length), heads, torch.float32)[:, 0]
    last = ours[:, -1]
    torch.testing.assert_close(last - last[:, :1], theirs - theirs[:, :1], rtol=1e-6, atol=1e-6)


def test_alibi_depends_on_the_distance_alone_and_grows_with_it() -> None:
    near = distance_penalty(6, 8.0, torch.tensor([[3, 5]]), torch.tensor([[0, 3, 5, 9]]), F64)
    far = distance_penalty(6, 8.0, torch.tensor([[103, 105]]), torch.tensor([[100, 103, 105, 109]]), F64)
    assert torch.equal(near, far)
    assert (near[0, :, 0, 1] == 0).all()
    assert (near[0, :, 0].diff() != 0).all()


def test_two_causal_layers_without_positions_tell_orders_apart_and_one_does_not() -> None:
    block = s.Block(s.Attention(2, 2, 4, 4), s.Dense(16, "gelu"), s.RMSNorm(), s.RMSNorm())
    ids, swapped = torch.tensor([[3, 8, 1, 6]]), torch.tensor([[8, 3, 1, 6]])
    for layers, apart in ((1, False), (2, True)):
        spec = s.DecoderOnly(s.Stack(8, s.Tokens(11), (block,) * layers), s.Language(), context=8)
        model = drawn(spec, 0)
        with torch.no_grad():
            difference = (model(ids) - model(swapped))[0, -1].abs().max()
        assert (difference > 1e-3) == apart
        assert apart or difference < 1e-12
