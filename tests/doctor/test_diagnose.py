"""A whole examination of a small decoder written by hand, sound and with its mask turned round."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from clearformer.doctor import diagnose
from clearformer.errors import DiagnosisError


class OneBlock(nn.Module):
    """Attention and nothing else; `keeps` is the mask that its kernel is given."""

    def __init__(self, *, inverted: bool) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(50, 32), nn.Embedding(64, 32)
        self.qkv, self.output, self.head = nn.Linear(32, 96), nn.Linear(32, 32), nn.Linear(32, 50)
        self.inverted = inverted

    def forward(self, ids: Tensor) -> Tensor:
        rows, length = ids.shape
        hidden = self.tokens(ids) + self.places(torch.arange(length))
        query, key, value = (each.view(rows, length, 4, 8).transpose(1, 2) for each in self.qkv(hidden).chunk(3, -1))
        keeps = torch.ones(length, length).tril().bool()
        read = F.scaled_dot_product_attention(query, key, value, attn_mask=~keeps if self.inverted else keeps)
        return self.head(hidden + self.output(read.transpose(1, 2).reshape(rows, length, -1)))


def test_a_sound_decoder_is_healthy() -> None:
    diagnosis = diagnose(OneBlock(inverted=False), kind="decoder", vocab_size=50)
    assert diagnosis.healthy
    diagnosis.raise_for_errors()


def test_a_compiled_module_is_examined_as_its_source() -> None:
    compiled = torch.compile(OneBlock(inverted=True), backend="eager")
    diagnosis = diagnose(compiled, kind="decoder", vocab_size=50, only=["K01", "K18"])
    assert {breach.check for finding in diagnosis.errors for breach in finding.breaches} >= {"K01", "K18"}


def test_a_mask_turned_round_is_an_error() -> None:
    diagnosis = diagnose(OneBlock(inverted=True), kind="decoder", vocab_size=50)
    assert "K01" in {breach.check for finding in diagnosis.errors for breach in finding.breaches}
    with pytest.raises(DiagnosisError, match=r"Nothing hides the future|no causal mask|mask inverted"):
        diagnosis.raise_for_errors()
