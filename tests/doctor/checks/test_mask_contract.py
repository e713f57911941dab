"""K11: what a mask does that hides nothing, and one that hides something."""

from __future__ import annotations

from torch import Tensor, nn

from doctor.checks.asking import causes
from doctor.corpus.hand_written import Decoder
from doctor.corpus.padding_faults import Deaf, Encoder, Turned, encoder
from doctor.corpus.sight_faults import decoder


class Added(Encoder):
    """As PyTorch reads masks: booleans hide, other numbers are added."""

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        if attention_mask is not None and attention_mask.is_floating_point():
            attention_mask = None
        return super().forward(input_ids, attention_mask)


def test_a_mask_without_effect() -> None:
    assert causes("K11", **encoder(Encoder(Deaf))) == ["ERROR padding mask without effect"]


def test_a_full_mask_that_hides_all() -> None:
    assert causes("K11", **encoder(Encoder(Turned))) == ["ERROR padding mask inverted"]


def test_a_mask_whose_number_type_matters() -> None:
    assert causes("K11", **encoder(Added())) == ["INFO mask type matters"]


def test_sound_models() -> None:
    assert causes("K11", **decoder(Decoder())) == causes("K11", **encoder(Encoder())) == []


def test_a_module_without_a_mask_has_no_such_law() -> None:
    assert causes("K11", model=nn.Sequential(nn.Embedding(20, 8)), kind="encoder") == ["-"]
