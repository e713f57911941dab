"""The twin computes from the file what a model changed in memory should compute."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from clearformer.load import load
from clearformer.verify import hypotheses, trying
from clearformer.verify.verifying import verify
from verify.planting import FAULTS


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named(changed_in_memory, name) -> None:
    found = verify(changed_in_memory(name), against="numpy")
    assert (found.verdict, found.hypothesis, found.first_difference) == ("bug", FAULTS[name].named, FAULTS[name].first)


def test_a_fault_that_no_hypothesis_knows_is_a_bug_without_a_name(original) -> None:
    loaded = load(original, dtype=torch.float64)
    with torch.no_grad():
        loaded.model.decoder.blocks[1].feedforward.down.weight[3, 5] += 1e-3
    found = verify(loaded, against="numpy")
    assert (found.verdict, found.hypothesis) == ("bug", None)
    assert found.first_difference == "decoder.blocks.1.feedforward.output"


def test_heads_in_another_order_are_no_fault(original) -> None:
    """Both key/value heads with their queries and columns exchanged: another arrangement of the same function."""
    loaded = load(original, dtype=torch.float64)
    with torch.no_grad():
        for block in loaded.model.decoder.blocks:
            for module in (block.attention.query, block.attention.key, block.attention.value):
                module.weight.copy_(module.weight.roll(module.weight.shape[0] // 2, 0))
            block.attention.output.weight.copy_(block.attention.output.weight.roll(24, 1))
    found = verify(loaded, against="numpy")
    assert (found.verdict, found.first_difference) == ("equal", None)
    assert any("decoder.blocks.0.attention.query" in str(values) for _, values in found.notes)


def test_a_model_in_a_narrow_type_is_no_fault(original) -> None:
    found = verify(load(original, dtype=torch.bfloat16), against="numpy")
    assert found.verdict in ("equal", "rounding")
    assert "held" in found.measured


def test_a_hypothesis_is_confirmed_by_its_own_change_alone(changed_in_memory, monkeypatch) -> None:
    """Without the right one in the list, none of the others mends."""
    for name in ("pairs for halves", "wrong eps", "swapped gate and up"):
        left = tuple(each for each in hypotheses.HYPOTHESES if each.name != FAULTS[name].named)
        monkeypatch.setattr(trying, "HYPOTHESES", left)
        assert verify(replace(changed_in_memory(name)), against="numpy").hypothesis is None
