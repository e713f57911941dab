"""Experts stacked in one tensor: where each matrix lies, the way back, and which names belong together."""

from __future__ import annotations

import pytest
import torch

from clearformer.checkpoint.expert_stacks import StackedExperts

COUNT, UP, WIDTH = 3, 5, 4
ROW = StackedExperts(
    "h.{i}.experts.gate_up", ("b.{i}.experts.{e}.gate.weight", "b.{i}.experts.{e}.up.weight"), (UP, UP), COUNT
)


@pytest.fixture
def stack():
    return torch.randn(COUNT, 2 * UP, WIDTH)


def test_each_matrix_is_where_transformers_reads_it(stack):
    ours = dict(zip(ROW.our_names({"i": "7"}), ROW.to_ours((stack,)), strict=True))
    assert list(ours)[:3] == [f"b.7.experts.{name}.weight" for name in ("0.gate", "0.up", "1.gate")]
    for index in range(COUNT):
        gate, up = stack[index].chunk(2)
        assert torch.equal(ours[f"b.7.experts.{index}.gate.weight"], gate)
        assert torch.equal(ours[f"b.7.experts.{index}.up.weight"], up)


def test_there_and_back(stack):
    assert torch.equal(ROW.to_theirs(ROW.to_ours((stack,)))[0], stack)


def test_every_expert_of_a_layer_names_the_same_stack():
    assert [ROW.match(f"b.7.experts.{index}.up.weight") for index in range(COUNT)] == [{"i": "7"}] * COUNT
    assert ROW.match(f"b.7.experts.{COUNT}.up.weight") is None
    assert ROW.their_names({"i": "7"}) == ("h.7.experts.gate_up",)
