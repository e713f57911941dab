"""K14: relative positions, moved on."""

from __future__ import annotations

from doctor.checks.asking import causes
from doctor.corpus.hand_written import Decoder
from doctor.corpus.position_faults import (
    RotaryDecoder,
    angles_of_pairs_with_halves_turned,
    rotary_angles_in_half_the_bits,
)
from doctor.corpus.sight_faults import decoder


def test_angles_in_too_few_bits() -> None:
    assert causes("K14", **rotary_angles_in_half_the_bits()) == ["ERROR rotary angles in low precision"]


def test_angles_in_enough_bits() -> None:
    assert causes("K14", **decoder(RotaryDecoder())) == []


def test_a_module_that_takes_no_positions() -> None:
    assert causes("K14", **decoder(Decoder())) == ["-"]


def test_angles_of_another_layout_than_the_turn() -> None:
    assert causes("K14", **angles_of_pairs_with_halves_turned()) == ["WARN rotary layout"]
