"""A fault in a converted folder is found beside the original, and named; every hypothesis is planted."""

from __future__ import annotations

import pytest

from clearformer.verify.hypotheses import HYPOTHESES
from clearformer.verify.verifying import verify
from verify.planting import FAULTS


def test_every_hypothesis_is_planted() -> None:
    assert {fault.named for fault in FAULTS.values()} == {hypothesis.name for hypothesis in HYPOTHESES}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_with_the_first_tensor_that_shows_it(original, planted, name) -> None:
    found = verify(planted(name), against=original)
    assert (found.verdict, found.hypothesis) == ("bug", FAULTS[name].named)
    assert found.first_difference == FAULTS[name].first


def test_the_original_beside_itself_is_equal(original) -> None:
    found = verify(original, against=original)
    assert (found.verdict, found.first_difference, found.hypothesis, found.max_abs) == ("equal", None, None, 0.0)
