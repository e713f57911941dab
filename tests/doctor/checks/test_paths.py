"""K08: with and without gradients, with weights and without."""

from __future__ import annotations

import pytest
from torch import Tensor, nn
from torch.nn import functional as F

from doctor.checks.asking import causes
from doctor.corpus.hand_written import Decoder, EncoderDecoder
from doctor.corpus.padding_faults import whole_transformer_without_a_memory_mask
from doctor.corpus.sight_faults import decoder, hint_dropped_when_weights_are_wanted, translator

pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor")


def test_a_fast_path_that_zeroes_what_the_slow_one_reads() -> None:
    assert causes("K08", **whole_transformer_without_a_memory_mask()) == ["ERROR memory padding mask missing"]


def test_a_hint_that_is_dropped_when_weights_are_wanted() -> None:
    assert causes("K08", **hint_dropped_when_weights_are_wanted())


class Dropping(Decoder):
    """Makes a dropout, and calls it or not."""

    def __init__(self, calls: bool) -> None:
        super().__init__()
        self.calls, self.dropout = calls, nn.Dropout(0.1)

    def forward(self, input_ids: Tensor) -> Tensor:  # type: ignore[override]
        logits = super().forward(input_ids)
        return self.dropout(logits) if self.calls else logits


def test_dropout_that_is_made_and_never_called() -> None:
    assert causes("K08", **decoder(Dropping(calls=False))) == ["WARN dropout without effect"]
    assert causes("K08", **decoder(Dropping(calls=True))) == []


def test_sound_models() -> None:
    assert causes("K08", **decoder(Decoder())) == causes("K08", **translator(EncoderDecoder())) == []


def test_without_a_module_there_is_nothing_to_ask() -> None:
    assert causes("K08", loss=F.cross_entropy) == ["-"]
