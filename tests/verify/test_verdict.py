"""What differences mean: noise is allowed four times over, a jump at one layer is not."""

from __future__ import annotations

import math

import pytest
import torch

from clearformer.verify.recording import Reference, Row, distance, on_the_stream, spread
from clearformer.verify.verdict import judge

NOISY = Reference({}, {}, exact=1e-9, noisily=True)
EXACT = Reference({}, {}, exact=1e-9)


def blocks(*ratios: float) -> list[Row]:
    return [
        Row(f"decoder.blocks.{index}.output", ratio * 1e-6, ratio * 1e-6, 1e-6) for index, ratio in enumerate(ratios)
    ]


@pytest.mark.parametrize(
    ("ratios", "verdict", "first"),
    [
        ((0.0, 0.5, 1.0), "equal", None),
        ((0.9, 1.5, 3.9), "rounding", None),
        ((0.9, 1.5, 4.1), "bug", 2),
        ((0.1, 0.1, 0.1, 3.5), "bug", 3),
        ((0.3, 0.3, 0.3, 3.5), "rounding", None),
        ((0.0, 3.5, 3.5), "rounding", None),
        ((math.inf, 0.1), "bug", 0),
        ((math.nan, 0.1), "bug", 0),
    ],
)
def test_the_verdict_of_a_stream(ratios, verdict, first) -> None:
    found, row = judge(blocks(*ratios), NOISY)
    assert found == verdict
    assert (row and row.name) == (None if first is None else f"decoder.blocks.{first}.output")


def test_where_both_compute_exactly_only_exactness_is_equality() -> None:
    assert judge([Row("answer", 1e-10, 1e-10, 1e-6)], EXACT)[0] == "equal"
    assert judge([Row("answer", 1e-7, 1e-7, 1e-6)], EXACT)[0] == "rounding"


def test_a_tensor_inside_a_block_is_first_only_where_the_stream_parts() -> None:
    inside = Row("decoder.blocks.0.attention.query", 1.0, 1.0, 1e-6)
    assert judge([inside, *blocks(0.1, 0.1)], NOISY) == ("equal", None)
    assert judge([inside, *blocks(0.1, 9.0)], NOISY) == ("bug", inside)


def test_places_that_are_infinite_in_both_do_not_part_them() -> None:
    first = torch.tensor([[1.0, -math.inf], [math.nan, 2.0]], dtype=torch.float64)
    assert distance(first, first.clone()) == 0.0
    assert distance(first, torch.tensor([[1.5, -math.inf], [math.nan, 2.0]]).double()) == 0.5
    assert distance(first, torch.zeros(2, 2).double()) == math.inf
    assert distance(first, torch.zeros(2, 3).double()) == math.inf
    assert distance(torch.zeros(1, 4, 2), torch.ones(4, 2)) == 1.0


def test_a_variation_that_overflows_measures_no_noise() -> None:
    base = {"answer": torch.ones(2).double(), "decoder.embed": torch.ones(2).double()}
    moved = {"answer": torch.tensor([1.5, 1.0]).double(), "decoder.embed": torch.tensor([math.inf, 1.0]).double()}
    assert spread(base, [moved]) == {"answer": 0.5, "decoder.embed": 0.0}


def test_the_stream_is_what_leaves_the_blocks() -> None:
    on = ["decoder.embed", "text.encoder.blocks.11.output", "decoder.final_norm", "head.logits", "answer"]
    off = ["decoder.blocks.0.attention.output", "decoder.blocks.0.feedforward.output", "encoder.embed.norm"]
    assert all(map(on_the_stream, on))
    assert not any(map(on_the_stream, off))
