"""K18: each fault inside an attention is seen where it is, and a sound attention is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from clearformer.doctor.diagnose import examine
from clearformer.doctor.parts import Parts
from doctor.checks.asking import causes
from doctor.corpus import CASES
from doctor.corpus.hand_written import VOCAB, WIDTH, Attention, Block, EncoderDecoder
from doctor.corpus.sight_faults import translator

NOWHERE = Path()


@pytest.mark.parametrize(
    "case",
    [
        "softmax over queries, decoder", "softmax over heads, encoder-decoder", "heads merged by reshape, decoder",
        "heads split by view, nn.TransformerDecoder", "scale by the width, decoder", "no scale, decoder",
        "0/1 mask added, decoder", "mask inverted, decoder", "multihead attention reads across the batch",
        "einsum attention normalised over the query", "crossing is causal", "mask after the softmax, decoder",
    ],
)  # fmt: skip
def test_the_fault_is_named_and_placed(case: str) -> None:
    diagnosis = examine(Parts(**CASES[case].parts(NOWHERE)), only=("K01", "K18"))
    first = diagnosis.findings[0]
    assert first.cause in CASES[case].causes
    assert first.confirmed
    assert "K18" in {breach.check for breach in first.breaches}
    assert ".py:" in str(first.where)


@pytest.mark.parametrize(
    "case",
    [
        "plain decoder", "plain encoder", "plain encoder decoder", "decoder with rotary positions",
        "decoder with grouped queries", "decoder with linear biases", "decoder with an odd scale",
        "decoder with capped scores", "decoder with experts", "decoder of encoder layers", "our modern decoder",
    ],
)  # fmt: skip
def test_a_sound_attention_is_left_alone(case: str) -> None:
    assert causes("K18", **CASES[case].parts(NOWHERE)) == []


def test_without_attention_there_is_nothing_to_record() -> None:
    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.cell = nn.Embedding(VOCAB, 16), nn.GRU(16, 16, batch_first=True)
            self.head = nn.Linear(16, VOCAB)

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            return self.head(self.cell(self.tokens(ids))[0])  # type: ignore[no-any-return]

    assert causes("K18", model=Recurrent(), kind="decoder", vocab_size=VOCAB) == ["-"]


def test_the_module_is_left_as_it_was() -> None:
    parts = CASES["heads merged by reshape, decoder"].parts(NOWHERE)
    model = parts["model"]
    ids = torch.arange(10)[None]
    before = model(ids)
    hooks = sum(len(each._forward_hooks) + len(each._forward_pre_hooks) for each in model.modules())
    examine(Parts(**parts), only=("K01", "K18"))
    assert torch.equal(model(ids), before)
    assert sum(len(each._forward_hooks) + len(each._forward_pre_hooks) for each in model.modules()) == hooks


class Patches(nn.Module):
    """A forecaster that sets channels beside rows and cuts each into patches, with a head over all of them."""

    def __init__(self) -> None:
        super().__init__()
        self.patch, self.head = nn.Linear(8, WIDTH), nn.Linear(6 * WIDTH, 4)
        self.places = nn.Parameter(torch.randn(6, WIDTH))
        self.block = Block(Attention(causal=False))

    def forward(self, series: torch.Tensor) -> torch.Tensor:
        rows, length, channels = series.shape
        cut = series.transpose(1, 2).reshape(rows * channels, length // 8, 8)
        mixed = self.block(self.patch(cut) + self.places)
        return self.head(mixed.flatten(1)).view(rows, channels, 4).transpose(1, 2)  # type: ignore[no-any-return]


@pytest.mark.parametrize("context", [48, None])
def test_channels_beside_rows_are_no_batch(context: int | None) -> None:
    diagnosis = examine(Parts(model=Patches(), kind="forecaster", context=context))
    assert not diagnosis.findings
    assert "K18" in diagnosis.passed


class LookingBack(EncoderDecoder):
    def __init__(self) -> None:
        super().__init__()
        for module in self.encoder.modules():
            if isinstance(module, Attention):
                module.causal = True


def test_an_encoder_beside_a_decoder_that_looks_back_only() -> None:
    assert causes("K18", **translator(LookingBack())) == ["WARN encoder is causal"]
