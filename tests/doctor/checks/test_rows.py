"""K06: rows that mix, and rows that are told apart by their number."""

from __future__ import annotations

import pytest
from torch import Tensor
from torch.nn import functional as F

from doctor.checks.asking import causes
from doctor.corpus.hand_written import Decoder
from doctor.corpus.padding_faults import Encoder, encoder
from doctor.corpus.position_faults import positions_broadcast_over_the_batch, sines_laid_out_for_time_first
from doctor.corpus.sight_faults import decoder


class Mixed(Encoder):
    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        answer = super().forward(input_ids, attention_mask)
        return answer - answer.mean(0, keepdim=True)


def test_a_mean_over_the_batch() -> None:
    assert causes("K06", **encoder(Mixed())) == ["ERROR rows depend on each other"]


@pytest.mark.parametrize("parts", [positions_broadcast_over_the_batch, sines_laid_out_for_time_first])
def test_positions_along_the_batch(parts: object) -> None:
    assert callable(parts)
    assert causes("K06", **parts()) == ["ERROR positions on the batch axis"]


def test_a_sound_decoder() -> None:
    assert causes("K06", **decoder(Decoder())) == []


def test_without_a_module_there_is_nothing_to_ask() -> None:
    assert causes("K06", loss=F.cross_entropy) == ["-"]
