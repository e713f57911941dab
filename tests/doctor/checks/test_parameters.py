"""K19: what no optimizer reaches, what no gradient reaches, and layers that are one."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from doctor.checks.asking import causes
from doctor.corpus import CASES

NOWHERE = Path()


@pytest.mark.parametrize(
    "case",
    [
        "layers in a list", "heads in a dictionary", "layers copied from one", "one layer three times",
        "torch encoder copies its layer", "head is a copy of the embedding", "second projection never called",
        "values made by the key projection", "lower layers detached", "attention read without a gradient",
    ],
)  # fmt: skip
def test_the_parameter_is_named(case: str) -> None:
    assert CASES[case].causes[0] in {each.partition(" ")[2] for each in causes("K19", **CASES[case].parts(NOWHERE))}


@pytest.mark.parametrize(
    "case",
    ["plain decoder", "plain encoder decoder", "decoder with a scaled embedding tied", "decoder with experts"],
)
def test_sound_parameters_are_left_alone(case: str) -> None:
    parts = CASES[case].parts(NOWHERE)
    assert causes("K19", **parts) == []
    assert all(weight.grad is None for weight in parts["model"].parameters())


def test_gradients_that_were_there_stay() -> None:
    parts = CASES["plain decoder"].parts(NOWHERE)
    for weight in parts["model"].parameters():
        weight.grad = torch.ones_like(weight)
    causes("K19", **parts)
    assert all(bool((weight.grad == 1).all()) for weight in parts["model"].parameters())


def test_without_a_module_there_are_no_parameters() -> None:
    assert causes("K19", loss=lambda logits, labels: logits.sum()) == ["-"]
