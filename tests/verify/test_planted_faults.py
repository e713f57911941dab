"""Each hypothesis is found where it is planted, and named; and never where nothing is wrong."""

from __future__ import annotations

import pytest

from clearformer.verify.hypotheses import HYPOTHESES
from clearformer.verify.verifying import verify
from verify.planting import FAULTS


def test_every_hypothesis_is_planted() -> None:
    assert {expected for _, expected, _ in FAULTS.values()} == {hypothesis.name for hypothesis in HYPOTHESES}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_a_folder_is_named(original, planted, name) -> None:
    found = verify(planted(name), against=original)
    _, expected, first = FAULTS[name]
    assert (found.verdict, found.hypothesis) == ("bug", expected)
    assert found.first_difference == first or (not first and found.first_difference.endswith("query_rotated"))


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_the_weights_is_named_beside_transformers(changed_in_memory, name) -> None:
    found = verify(changed_in_memory(name), against="hf")
    _, expected, first = FAULTS[name]
    assert (found.verdict, found.hypothesis) == ("bug", expected)
    assert found.first_difference == first or (not first and found.first_difference.endswith("attention.weights"))


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_the_weights_is_named_beside_the_twin(changed_in_memory, name) -> None:
    found = verify(changed_in_memory(name), against="numpy")
    assert (found.verdict, found.hypothesis) == ("bug", FAULTS[name][1])


@pytest.mark.parametrize("against", ["hf", "numpy", "itself"])
def test_the_original_is_equal(original, against) -> None:
    found = verify(original, against=original if against == "itself" else against)
    assert found.verdict in ("equal", "rounding")
    assert found.first_difference is None
    assert found.hypothesis is None
