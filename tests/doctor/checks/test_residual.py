"""K20: a block hands on what it was given."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from doctor.checks.asking import causes
from doctor.corpus import CASES
from doctor.corpus.hand_written import VOCAB

NOWHERE = Path()


@pytest.mark.parametrize(
    "case", ["residual of the normed", "residual of the normed encoder decoder", "six layers without residuals"]
)
def test_a_stream_that_is_not_handed_on_is_found(case: str) -> None:
    assert causes("K20", **CASES[case].parts(NOWHERE)) == [f"WARN {CASES[case].causes[0]}"]


@pytest.mark.parametrize(
    "case",
    [
        "plain decoder", "decoder with norms after", "decoder with parallel blocks", "decoder with a cache",
        "translator of the whole transformer", "our paper's model", "our modern decoder",
    ],
)  # fmt: skip
def test_other_ways_of_writing_a_sound_block_are_left_alone(case: str) -> None:
    parts = CASES[case].parts(NOWHERE)
    before = {name: weight.clone() for name, weight in parts["model"].state_dict().items()}
    assert causes("K20", **parts) in ([], ["-"])
    assert all(torch.equal(before[name], weight) for name, weight in parts["model"].state_dict().items())


def test_without_a_list_of_blocks_there_is_nothing_to_silence() -> None:
    model = nn.Sequential(nn.Embedding(VOCAB, 16), nn.Linear(16, VOCAB))
    assert causes("K20", model=model, kind="decoder", vocab_size=VOCAB) == ["-"]
