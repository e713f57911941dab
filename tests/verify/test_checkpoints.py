"""Two checkpoints of one model: what their number types round is noise, and a fault is still seen through it."""

from __future__ import annotations

import pytest
import torch

from clearformer.errors import UsageError
from clearformer.load import load
from clearformer.verify.checkpoint import stored_as
from clearformer.verify.references import found_in
from clearformer.verify.verifying import verify
from verify.planting import plant, swapped_gate_and_up, tied_head


def in_bfloat16(weights, config) -> None:
    for name, value in weights.items():
        weights[name] = value.bfloat16()


@pytest.fixture(scope="module")
def narrow(original, tmp_path_factory):
    return plant(original, tmp_path_factory.mktemp("narrow") / "bfloat16", in_bfloat16)


def test_a_narrower_type_is_rounding(original, narrow) -> None:
    for found in (verify(narrow, against=original), verify(original, against=narrow)):
        assert (found.verdict, found.first_difference) == ("rounding", None)
        assert found.max_abs > 1e-3


def test_a_fault_is_seen_through_the_rounding(original, narrow, tmp_path) -> None:
    wrong = plant(narrow, tmp_path / "wrong", swapped_gate_and_up)
    found = verify(wrong, against=original)
    assert (found.verdict, found.hypothesis) == ("bug", "gate_up_swapped")


def test_stored_weights_are_those_that_a_file_would_hold(narrow) -> None:
    found = found_in(load(narrow))
    weights = {name: value.detach().double() for name, value in load(narrow).model.named_parameters()}
    finer = {name: value * (1 + 1e-5) for name, value in weights.items()}
    stored = stored_as(found, finer)
    assert stored is not None
    for name, value in stored.items():
        assert torch.equal(value, finer[name].bfloat16().double())
        assert torch.equal(value, weights[name])


def test_a_head_that_one_of_them_lacks_is_no_other_architecture(original, tmp_path) -> None:
    """Tied and not are two specs of one architecture, and one of the faults."""
    assert verify(plant(original, tmp_path / "tied", tied_head), against=original).hypothesis == "untied_head"


def fewer_layers(weights, config) -> None:
    for name in [name for name in weights if ".layers.2." in name]:
        del weights[name]
    config["num_hidden_layers"] = 2


def test_another_number_of_blocks_is_another_architecture(original, tmp_path) -> None:
    with pytest.raises(UsageError, match="blocks is"):
        verify(plant(original, tmp_path / "short", fewer_layers), against=original)
