"""K02: a mask that only fills in a number gives way when scores grow."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from doctor.checks.asking import causes
from doctor.corpus import CASES
from doctor.corpus.hand_written import VOCAB, Attention, Decoder

NOWHERE = Path()


@pytest.mark.parametrize("case", ["fill of -1e4, decoder", "fill of -100, encoder-decoder"])
def test_a_finite_fill_is_found(case: str) -> None:
    assert causes("K02", **CASES[case].parts(NOWHERE)) == ["ERROR finite fill reachable"]


@pytest.mark.parametrize("fill", [float("-inf"), -1e9, torch.finfo(torch.float16).min])
def test_a_fill_out_of_reach_is_left_alone(fill: float) -> None:
    class Filled(Attention):
        def cover(self, scores: Tensor, hidden: Tensor) -> Tensor:
            return scores.masked_fill(hidden, fill)

    torch.manual_seed(0)
    assert causes("K02", model=Decoder(Filled), kind="decoder", vocab_size=VOCAB) == []


def test_scores_of_unit_vectors_cannot_grow() -> None:
    assert causes("K02", **CASES["decoder with an odd scale"].parts(NOWHERE)) == ["-"]


def test_the_last_position_alone_has_no_later_one_to_see() -> None:
    assert causes("K02", **CASES["the last position alone"].parts(NOWHERE)) == ["-"]


def test_an_encoder_has_no_such_law() -> None:
    assert causes("K02", **CASES["plain encoder"].parts(NOWHERE)) == ["-"]
