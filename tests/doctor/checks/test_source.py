"""K17: sources that are not read, read in part, or read with their padding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from doctor.checks.asking import causes
from doctor.corpus import sight_faults as faults
from doctor.corpus.hand_written import Attention, Decoder, EncoderDecoder
from doctor.corpus.padding_faults import crossing_reads_the_padded_source


class Causal(Attention):
    """Cross-attention with a causal mask, over a source whose tokens do not know of each other."""

    def hidden(self, queries: int, keys: int) -> Tensor:
        return torch.ones(queries, keys, dtype=torch.bool).triu(1)

    def attend(self, query: Tensor, key: Tensor, value: Tensor, hidden: Tensor | None) -> Tensor:
        causal = self.hidden(query.shape[2], key.shape[2])
        return super().attend(query, key, value, causal if hidden is None else hidden | causal)


class Unmixed(EncoderDecoder):
    def encode(self, src: Tensor, src_mask: Tensor | None = None) -> Tensor:
        return self.encoded(self.tokens(src))


def test_a_source_of_which_the_first_target_reads_the_first_token() -> None:
    found = causes("K17", **faults.translator(Unmixed(crossing=Causal)))
    assert found == ["ERROR source hidden by causal mask"]


@pytest.mark.parametrize(
    ("parts", "cause"),
    [
        (faults.crossing_reads_the_target, "source unread"),
        (crossing_reads_the_padded_source, "memory padding mask missing"),
    ],
)
def test_a_source_that_is_not_read_as_it_should(parts: Callable[[], dict[str, Any]], cause: str) -> None:
    assert causes("K17", **parts()) == [f"ERROR {cause}"]


def test_a_sound_translator() -> None:
    assert causes("K17", **faults.translator(EncoderDecoder())) == []


class Reading(EncoderDecoder):
    """Finds padding by its id, 0, or does not."""

    def __init__(self, finds: bool) -> None:
        super().__init__()
        self.finds = finds

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        return super().forward(src, tgt, src != 0 if self.finds else None)


@pytest.mark.parametrize("finds", [True, False])
def test_padding_that_only_its_id_tells(finds: bool) -> None:
    found = causes("K17", **(faults.translator(Reading(finds)) | {"pad_id": 0}))
    assert found == ([] if finds else ["WARN memory padding mask missing"])


def test_a_decoder_has_no_source() -> None:
    assert causes("K17", **faults.decoder(Decoder())) == ["-"]
