"""K13: tables of positions that are not used, and order that is not seen."""

from __future__ import annotations

import pytest
from torch import Tensor, nn

from doctor.checks.asking import causes
from doctor.corpus.hand_written import Decoder
from doctor.corpus.padding_faults import Encoder, encoder
from doctor.corpus.position_faults import every_token_at_position_zero, table_of_places_never_added
from doctor.corpus.sight_faults import decoder


class Set(Encoder):
    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        x = self.tokens(input_ids)
        for block in self.blocks:
            x = block(x, attention_mask)
        return self.head(self.norm(x))


@pytest.mark.parametrize("parts", [table_of_places_never_added, every_token_at_position_zero])
def test_a_table_that_is_not_used(parts: object) -> None:
    assert callable(parts)
    assert "ERROR positions unused" in causes("K13", **parts())


def test_an_encoder_that_reads_a_set() -> None:
    model = Set()
    del model.places
    assert causes("K13", **encoder(model)) == ["WARN order unseen"]


def test_sound_models() -> None:
    assert causes("K13", **decoder(Decoder())) == causes("K13", **encoder(Encoder())) == []


def test_vectors_may_have_their_positions_already() -> None:
    assert causes("K13", model=nn.Linear(8, 8), kind="encoder") == ["-"]
