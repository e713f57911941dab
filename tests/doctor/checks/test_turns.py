"""K14 inside: one token, repeated, shows which sides are turned, and by what."""

from __future__ import annotations

import pytest

from doctor.checks.asking import causes
from doctor.corpus import mixing_faults as faults
from doctor.corpus.hand_written import Decoder
from doctor.corpus.sight_faults import decoder


@pytest.mark.parametrize(
    ("attention", "cause"),
    [
        (faults.QueriesOnly, "rotary on one side"),
        (faults.KeysOnly, "rotary on one side"),
        (faults.ValuesToo, "rotary on values"),
        (faults.OtherBase, "rotary angles disagree"),
        (faults.HalvesAndPairs, "rotary angles disagree"),
    ],
)
def test_a_turn_that_is_not_shared(attention: type[faults.Rotary], cause: str) -> None:
    assert causes("K14", **faults.without_positions(attention)) == [f"WARN {cause}"]


@pytest.mark.parametrize("attention", [faults.Complex, faults.Rotary])
def test_queries_and_keys_turned_alike(attention: type[faults.Rotary]) -> None:
    assert causes("K14", **faults.without_positions(attention)) == []


def test_a_module_that_turns_nothing_and_takes_no_positions() -> None:
    assert causes("K14", **decoder(Decoder())) == ["-"]
