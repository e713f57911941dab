"""What a wrong loader leaves in memory is found beside transformers, which reads the same files by its own code."""

from __future__ import annotations

import pytest

from clearformer.verify.verifying import verify
from verify.planting import FAULTS


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_with_the_first_module_that_shows_it(changed_in_memory, name) -> None:
    found = verify(changed_in_memory(name), against="hf")
    assert (found.verdict, found.hypothesis) == ("bug", FAULTS[name].named)
    # No module turns queries: a wrong rotation is first seen in the attention weights.
    assert found.first_difference == FAULTS[name].first.replace("query_rotated", "weights")
