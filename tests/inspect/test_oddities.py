"""What is odd is found where it was planted, and nowhere else."""

from __future__ import annotations

import math

import torch

from clearformer import spec as s
from clearformer.inspect.oddities import not_finite, of_scores, of_weights
from clearformer.inspect.trace import trace
from drawing.built import drawn

T = 8


def masked(scores: torch.Tensor) -> torch.Tensor:
    return scores.masked_fill(~torch.ones(T, T, dtype=torch.bool).tril(), -math.inf)


def kinds(weights: torch.Tensor) -> dict[str, tuple[int, ...]]:
    return {odd.kind: odd.heads for odd in of_weights(weights, masked(torch.zeros_like(weights)))}


def test_saturated_sink_and_uniform_heads_are_told_apart() -> None:
    flat = masked(torch.zeros(T, T)).softmax(-1)
    itself, first = torch.eye(T), torch.zeros(T, T)
    first[:, 0] = 1
    plain = masked(torch.randn(T, T, generator=torch.Generator().manual_seed(0))).softmax(-1)
    heads = torch.stack((itself, flat, plain, first))[None]
    assert kinds(heads) == {"saturated": (0,), "uniform": (1,), "sink": (3,)}


def test_a_row_without_a_choice_says_nothing() -> None:
    two = torch.eye(2)[None, None]
    assert of_weights(two, torch.zeros(1, 1, 2, 2)) == ()
    assert of_scores(torch.zeros(1, 1, 2, 2)) == ()


def test_scores_out_of_scale() -> None:
    scores = torch.randn(1, 4, T, T, generator=torch.Generator().manual_seed(1))
    assert of_scores(masked(scores)) == ()
    # A constant on a row changes no weight, and is not odd.
    assert of_scores(masked(scores + 100 * torch.arange(T)[:, None])) == ()
    (wide,), (narrow,) = of_scores(masked(scores * 8)), of_scores(masked(scores / 100))
    assert (wide.kind, narrow.kind) == ("wide_scores", "narrow_scores")
    assert 6 < wide.value < 10


def test_numbers_that_are_none() -> None:
    assert not_finite(torch.ones(3)) == ()
    assert not_finite(torch.tensor([0.0, -math.inf]), hidden=True) == ()
    (odd,) = not_finite(torch.tensor([0.0, math.nan, math.inf, -math.inf]))
    assert odd.value == 0.75
    assert odd.text("en") == "75.00% of the numbers are NaN or infinite"


def decoder(scale: float) -> s.DecoderOnly:
    attention = s.Attention(2, 2, 4, 4, scale=scale)
    block = s.Block(attention, s.Dense(16), s.LayerNorm(), s.LayerNorm())
    return s.DecoderOnly(s.Stack(8, s.Tokens(11), (block,)), s.Language(), context=16)


def odd_in(spec: s.Spec, spoil: float = 1.0) -> set[tuple[str, str]]:
    model = drawn(spec, 4)
    with torch.no_grad():
        model.decoder.blocks[0].feedforward.down.bias.mul_(spoil)
    return {(row.op, odd.kind) for row in trace(model, list(range(10))).rows for odd in row.odd}


def test_a_planted_fault_is_named_at_its_place() -> None:
    assert ("attention.scores", "wide_scores") not in odd_in(decoder(0.5))
    assert ("attention.masked_scores", "wide_scores") in odd_in(decoder(60.0))
    assert ("attention.masked_scores", "narrow_scores") in odd_in(decoder(1e-4))
    assert any(kind == "uniform" for _, kind in odd_in(decoder(1e-4)))
    broken = odd_in(decoder(0.5), math.nan)
    assert {place for place, kind in broken if kind == "not_finite"} >= {"feedforward.output", "output", "logits"}
    assert not any(place.startswith("attention") and kind == "not_finite" for place, kind in broken)
