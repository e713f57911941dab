"""K12: rows that see nothing."""

from __future__ import annotations

from torch import nn

from doctor.checks.asking import causes
from doctor.corpus.hand_written import Decoder
from doctor.corpus.padding_faults import Encoder, encoder, kernel_rows_without_a_key, left_padding_gives_no_numbers
from doctor.corpus.sight_faults import decoder


def test_left_padding_with_a_fill_of_minus_infinity() -> None:
    assert causes("K12", **left_padding_gives_no_numbers()) == ["ERROR empty rows"]


def test_a_row_of_padding_is_told() -> None:
    assert causes("K12", **kernel_rows_without_a_key()) == ["INFO empty rows"]


def test_sound_models() -> None:
    assert causes("K12", **decoder(Decoder())) == causes("K12", **encoder(Encoder())) == []


def test_a_module_without_a_mask_has_no_such_law() -> None:
    assert causes("K12", model=nn.Sequential(nn.Embedding(20, 8)), kind="encoder") == ["-"]
