"""K31: beside a reference with the same weights."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch

from doctor.checks.asking import causes
from doctor.corpus import CASES
from doctor.corpus.hand_written import VOCAB, Decoder

NOWHERE = Path()


@pytest.mark.parametrize(
    "case",
    ["weights of halves in a model of pairs", "key heads tiled instead of repeated", "queries summed over their group"],
)
def test_what_parts_them_is_named(case: str) -> None:
    assert causes("K31", **CASES[case].parts(NOWHERE)) == [f"ERROR {CASES[case].causes[0]}"]


def test_the_same_module_is_no_difference_and_weights_are_copied() -> None:
    torch.manual_seed(0)
    model, other = Decoder(), Decoder()
    assert causes("K31", model=model, kind="decoder", vocab_size=VOCAB, reference=copy.deepcopy(model)) == []
    drawn = copy.deepcopy(other.state_dict())
    assert causes("K31", model=model, kind="decoder", vocab_size=VOCAB, reference=other) == []
    assert all(torch.equal(drawn[name], weight) for name, weight in other.state_dict().items())


def test_without_a_reference_there_is_nothing_to_compare() -> None:
    assert causes("K31", **CASES["plain decoder"].parts(NOWHERE)) == ["-"]
