"""Dropout has four places, each of which works alone, in training only."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from clearformer import spec as s
from clearformer.layers.kernels import Kernel
from clearformer.model import DecoderOnly
from drawing.built import drawn

IDS = torch.arange(20).view(2, 10) % 11
PLACES = ("input", "weights", "sublayer", "inside")


def spec_with(
    *,
    input: float = 0.0,
    weights: float = 0.0,
    sublayer: float = 0.0,
    inside: float = 0.0,
    gated: bool = False,
    latent: bool = False,
    parallel: bool = False,
) -> s.DecoderOnly:
    attention = (
        s.LatentAttention(2, 4, 4, 6, s.Rotary(width=4), dropout=weights)
        if latent
        else s.Attention(2, 1, 4, 4, dropout=weights)
    )
    feedforward = s.Gated(16, dropout=inside) if gated else s.Dense(16, "gelu", dropout=inside)
    arrangement: s.Arrangement = s.Parallel() if parallel else s.Sequential()
    block = s.Block(attention, feedforward, s.RMSNorm(), s.RMSNorm(), arrangement=arrangement, dropout=sublayer)
    return s.DecoderOnly(s.Stack(8, s.Tokens(11, dropout=input), (block,)), s.Language(), context=16)


def answers(spec: s.DecoderOnly, *, training: bool, kernel: Kernel = "sdpa") -> tuple[torch.Tensor, torch.Tensor]:
    """Two passes over the same ids."""
    model = drawn(spec, 0).train(training)
    assert isinstance(model, DecoderOnly)
    model.decoder.blocks[0].attention.kernel = kernel
    torch.manual_seed(0)
    with torch.no_grad():
        return model(IDS), model(IDS)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("shape", [{}, {"gated": True}, {"latent": True}, {"parallel": True}], ids=str)
@pytest.mark.parametrize("kernel", ["plain", "tiled", "sdpa"])
def test_each_place_drops_alone_and_only_in_training(place: str, shape: dict[str, bool], kernel: Kernel) -> None:
    spec = spec_with(**{place: 0.5}, **shape)
    first, second = answers(spec, training=True, kernel=kernel)
    assert (first - second).abs().max() > 1e-3
    first, second = answers(spec, training=False, kernel=kernel)
    assert torch.equal(first, second)
    without, _ = answers(spec_with(**shape), training=False, kernel=kernel)
    assert torch.equal(first, without)


def test_without_dropout_training_is_evaluation() -> None:
    for first, second in zip(answers(spec_with(), training=True), answers(spec_with(), training=False), strict=True):
        assert torch.equal(first, second)


HEADS: list[Callable[[float], s.Head]] = [
    lambda p: s.Classes(3, s.Pooling(s.Last()), dropout=p),
    lambda p: s.Regression(3, s.Pooling(s.Mean()), dropout=p),
]


@pytest.mark.parametrize("make", HEADS)
def test_a_heads_dropout_drops_before_its_projection(make: Callable[[float], s.Head]) -> None:
    stack = spec_with().decoder
    model = drawn(s.DecoderOnly(stack, make(0.5), context=16), 0)
    with torch.no_grad():
        assert torch.equal(model.eval()(IDS), model(IDS))
        assert not torch.equal(model.train()(IDS), model(IDS))
