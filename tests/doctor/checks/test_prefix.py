"""K05: answers that depend on how much follows."""

from __future__ import annotations

from torch import Tensor

from doctor.checks.asking import causes
from doctor.corpus.hand_written import Decoder
from doctor.corpus.padding_faults import Encoder, encoder
from doctor.corpus.sight_faults import decoder


class Scaled(Decoder):
    """Divides by the length."""

    def embed(self, input_ids: Tensor, attention_mask: Tensor | None) -> Tensor:
        return super().embed(input_ids, attention_mask) / input_ids.shape[1] + 0.1 * self.places.weight[0]


def test_embeddings_divided_by_the_length() -> None:
    assert causes("K05", **decoder(Scaled())) == ["ERROR depends on the length"]


def test_a_sound_decoder() -> None:
    assert causes("K05", **decoder(Decoder())) == []


def test_an_encoder_has_no_such_law() -> None:
    assert causes("K05", **encoder(Encoder())) == ["-"]
