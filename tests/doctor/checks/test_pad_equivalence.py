"""K10: a padded row and the row alone."""

from __future__ import annotations

from torch import Tensor, nn

from doctor.checks.asking import causes
from doctor.corpus.hand_written import Decoder
from doctor.corpus.padding_faults import Encoder, encoder, left_padding_moves_the_positions
from doctor.corpus.sight_faults import decoder


class Halved(Encoder):
    """Pads are not read, and yet counted."""

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        return super().forward(input_ids, attention_mask) * (1 + 1 / input_ids.shape[1])


def test_positions_that_count_padding() -> None:
    assert causes("K10", **left_padding_moves_the_positions()) == ["INFO positions not from mask"]


def test_a_length_that_counts_padding() -> None:
    assert causes("K10", **encoder(Halved())) == ["ERROR depends on the length"]


def test_sound_models() -> None:
    assert causes("K10", **decoder(Decoder())) == causes("K10", **encoder(Encoder())) == []


def test_a_module_without_a_mask_has_no_such_law() -> None:
    assert causes("K10", model=nn.Sequential(nn.Embedding(20, 8)), kind="encoder") == ["-"]


class Finding(Encoder):
    """Finds padding by its id, 0, or does not."""

    def __init__(self, finds: bool) -> None:
        super().__init__()
        self.finds = finds

    def forward(self, ids: Tensor) -> Tensor:
        return super().forward(ids, ids != 0 if self.finds else None)


def test_padding_that_only_its_id_tells() -> None:
    assert causes("K10", **encoder(Finding(True)), pad_id=0) == []
    assert causes("K10", **encoder(Finding(False)), pad_id=0) == ["WARN padding mask without effect"]
