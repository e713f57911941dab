"""K08: with and without gradients, with weights and without."""

from __future__ import annotations

import pytest
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


def test_sound_models() -> None:
    assert causes("K08", **decoder(Decoder())) == causes("K08", **translator(EncoderDecoder())) == []


def test_without_a_module_there_is_nothing_to_ask() -> None:
    assert causes("K08", loss=F.cross_entropy) == ["-"]
