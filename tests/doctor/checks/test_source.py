"""K17: sources that are not read, read in part, or read with their padding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from doctor.checks.asking import causes
from doctor.corpus import sight_faults as faults
from doctor.corpus.hand_written import Decoder, EncoderDecoder
from doctor.corpus.padding_faults import crossing_reads_the_padded_source


@pytest.mark.parametrize(
    ("parts", "cause"),
    [
        (faults.crossing_reads_the_target, "source unread"),
        (faults.crossing_is_causal, "source hidden by causal mask"),
        (crossing_reads_the_padded_source, "memory padding mask missing"),
    ],
)
def test_a_source_that_is_not_read_as_it_should(parts: Callable[[], dict[str, Any]], cause: str) -> None:
    assert f"ERROR {cause}" in causes("K17", **parts())


def test_a_sound_translator() -> None:
    assert causes("K17", **faults.translator(EncoderDecoder())) == []


def test_a_decoder_has_no_source() -> None:
    assert causes("K17", **faults.decoder(Decoder())) == ["-"]
