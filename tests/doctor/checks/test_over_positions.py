"""K01's causes outside attention: each is told from a missing mask by taking it away, and placed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from torch import Tensor

from clearformer.doctor.diagnose import examine
from clearformer.doctor.finding import Finding
from clearformer.doctor.parts import Parts
from doctor.corpus import mixing_faults as faults
from doctor.corpus.attention_faults import Unmasked
from doctor.corpus.hand_written import Decoder
from doctor.corpus.padding_faults import Encoder, encoder
from doctor.corpus.sight_faults import decoder


def first(parts: dict[str, object]) -> Finding | None:
    found = examine(Parts(**parts), only=("K01", "K05")).findings  # type: ignore[arg-type]
    return found[0] if found else None


@pytest.mark.parametrize("name", faults.OVER_POSITIONS)
def test_what_is_normalised_over_positions(name: str) -> None:
    found = first(faults.mixing(faults.OVER_POSITIONS[name]))
    assert found is not None
    assert (found.cause, found.confirmed) == ("normalised over positions", True)
    assert ".py:" in str(found.where)


@pytest.mark.parametrize("name", faults.READS_AHEAD)
def test_what_reads_the_next_position(name: str) -> None:
    found = first(faults.mixing(faults.READS_AHEAD[name]))
    assert found is not None
    assert (found.cause, found.confirmed) == ("convolution reads ahead", True)


@pytest.mark.parametrize("build", [faults.convolution_before_its_position, faults.tokens_mixed_with_the_one_before])
def test_what_reads_back_only(build: Callable[[], dict[str, object]]) -> None:
    assert first(build()) is None


def test_a_missing_mask_is_still_a_missing_mask() -> None:
    found = first(decoder(Decoder(Unmasked)))
    assert found is not None
    assert found.cause == "no causal mask"


def test_an_encoder_may_take_positions_together() -> None:
    class Centred(Encoder):
        def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
            x = super().forward(input_ids, attention_mask)
            return x - x.mean(1, keepdim=True)

    assert first(encoder(Centred())) is None
