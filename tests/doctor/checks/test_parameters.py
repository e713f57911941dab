"""K19: what no optimizer reaches, what no gradient reaches, and layers that are one."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from clearformer.doctor.diagnose import examine
from clearformer.doctor.parts import Parts
from doctor.checks.asking import causes
from doctor.corpus import CASES
from doctor.corpus.hand_written import VOCAB

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


@pytest.mark.parametrize("case", ["one row of the head is nan", "an embedding full of infinities"])
def test_numbers_that_are_none_explain_what_follows_from_them(case: str) -> None:
    parts = CASES[case].parts(NOWHERE)
    before = [weight.detach().clone() for weight in parts["model"].parameters()]
    found = examine(Parts(**parts))
    assert [(each.severity, each.cause, each.check) for each in found.errors] == [
        ("ERROR", "parameters not finite", "K19")
    ]
    assert all(
        torch.equal(one.nan_to_num(7), other.nan_to_num(7))
        for one, other in zip(before, parts["model"].parameters(), strict=True)
    )


def test_the_row_of_the_head_is_named() -> None:
    finding = examine(Parts(**CASES["one row of the head is nan"].parts(NOWHERE)), only=("K19",)).findings[0]
    assert finding.where == "head.weight"
    assert "in row 3 " in finding.breaches[0].evidence[0].text()


def test_the_infinities_of_a_mask_in_a_buffer_are_meant() -> None:
    parts = CASES["plain decoder"].parts(NOWHERE)
    parts["model"].register_buffer("mask", torch.full((4, 4), float("-inf")).triu(1))
    assert causes("K19", **parts) == []
    parts["model"].register_buffer("mean", torch.full((4,), float("nan")))
    assert causes("K19", **parts) == ["ERROR parameters not finite"]


@pytest.mark.parametrize(
    "case", ["forward without gradients", "forward in inference mode", "logits are detached"]
)  # fmt: skip
def test_a_forward_pass_behind_which_no_gradient_runs(case: str) -> None:
    parts = CASES[case].parts(NOWHERE)
    assert causes("K19", **parts) == ["WARN no gradient"]
    training = parts | {"loss": lambda logits, labels: F.cross_entropy(logits.flatten(0, 1), labels.flatten())}
    assert causes("K19", **training) == ["ERROR no gradient"]


def test_frozen_parameters_are_no_alarm() -> None:
    model = CASES["plain decoder"].parts(NOWHERE)["model"]
    model.tokens.requires_grad_(False)
    assert causes("K19", model=model, kind="decoder", vocab_size=VOCAB) == []
    model.requires_grad_(False)
    assert causes("K19", model=model, kind="decoder", vocab_size=VOCAB) == ["INFO all parameters frozen"]


def test_gradients_that_were_there_stay() -> None:
    parts = CASES["plain decoder"].parts(NOWHERE)
    for weight in parts["model"].parameters():
        weight.grad = torch.ones_like(weight)
    causes("K19", **parts)
    assert all(bool((weight.grad == 1).all()) for weight in parts["model"].parameters())


def test_without_a_module_there_are_no_parameters() -> None:
    assert causes("K19", loss=lambda logits, labels: logits.sum()) == ["-"]
