"""K21: what a model says that has learnt nothing."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from clearformer.doctor.diagnose import examine
from clearformer.doctor.parts import Parts
from doctor.checks.asking import causes
from doctor.corpus import CASES
from doctor.corpus.hand_written import Decoder
from doctor.corpus.sight_faults import decoder


class Sure(Decoder):
    def __init__(self) -> None:
        super().__init__()
        nn.init.normal_(self.head.weight, std=1.0)


class Probable(Decoder):
    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        return super().forward(input_ids, attention_mask).softmax(-1)


def test_a_head_that_is_drawn_too_wide() -> None:
    assert causes("K21", **decoder(Sure())) == ["WARN initial scale"]


def test_a_softmax_in_forward() -> None:
    assert causes("K21", **decoder(Probable())) == ["WARN probabilities as logits"]


def test_a_sound_decoder() -> None:
    assert causes("K21", **decoder(Decoder())) == []


def test_answers_that_are_no_numbers() -> None:
    found = examine(Parts(**CASES["norm divides by nothing"].parts(Path())))
    assert [(each.severity, each.cause) for each in found.findings] == [("ERROR", "answers not finite")]


def test_an_id_that_is_never_to_be_said_may_have_minus_infinity() -> None:
    class Silenced(Decoder):
        def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
            logits = super().forward(input_ids, attention_mask)
            return logits.masked_fill(torch.arange(logits.shape[-1]) == 0, float("-inf"))

    assert causes("K21", **decoder(Silenced())) == ["-"]


def test_a_trained_model_may_be_sure() -> None:
    model = Sure()
    nn.init.normal_(model.norm.weight)
    assert causes("K21", **decoder(model)) == ["-"]
