"""K09: what stands under the mask, read or not."""

from __future__ import annotations

import pytest
from torch import Tensor, nn

from doctor.checks.asking import causes
from doctor.corpus.hand_written import Attention, Decoder
from doctor.corpus.padding_faults import Deaf, Encoder, FloatPadding, Turned, encoder
from doctor.corpus.sight_faults import decoder


@pytest.mark.parametrize(
    ("attention", "cause"),
    [(Deaf, "padding mask without effect"), (Turned, "padding mask inverted"), (FloatPadding, "mask added as 0 and 1")],
)
def test_a_mask_that_does_not_hide(attention: type[Attention], cause: str) -> None:
    assert causes("K09", **encoder(Encoder(attention))) == [f"ERROR {cause}"]
    assert causes("K09", **decoder(Decoder(attention))) == [f"ERROR {cause}"]


class Pooled(Encoder):
    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        return super().forward(input_ids, attention_mask).mean(1)


def test_a_mean_that_counts_padding() -> None:
    assert causes("K09", **encoder(Pooled())) == ["ERROR padding pooled in"]


def test_sound_models() -> None:
    assert causes("K09", **decoder(Decoder())) == causes("K09", **encoder(Encoder())) == []


def test_a_module_without_a_mask_has_no_such_law() -> None:
    assert causes("K09", model=nn.Sequential(nn.Embedding(20, 8)), kind="encoder") == ["-"]
