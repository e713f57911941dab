"""K38: errors that a module raises are explained."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from clearformer.doctor.diagnose import examine
from clearformer.doctor.parts import Parts
from doctor.checks.asking import causes
from doctor.corpus import CASES
from doctor.corpus.hand_written import VOCAB, Decoder
from doctor.corpus.healthy_other_hands import Blocked

NOWHERE = Path()


class TwoRows(Decoder):
    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        return super().forward(input_ids, attention_mask) + torch.zeros(2, 1, 1).expand(len(input_ids), 1, 1)


class InPlace(Decoder):
    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        h = self.norm(self.embed(input_ids, attention_mask)).sigmoid()
        out = self.head(h)
        h.mul_(2)
        return out


@pytest.mark.parametrize("case", ["view after a transpose", "mask of the full length"])
def test_a_module_that_raises_is_explained(case: str) -> None:
    diagnosis = examine(Parts(**CASES[case].parts(NOWHERE)))
    assert diagnosis.findings[0].cause == CASES[case].causes[0]
    assert ".py:" in str(diagnosis.findings[0].where)


@pytest.mark.parametrize(
    ("model", "cause"), [(TwoRows, "shapes disagree"), (InPlace, "in-place change breaks the gradient")]
)
def test_what_raises_only_at_times_is_found(model: type[Decoder], cause: str) -> None:
    assert causes("K38", model=model(), kind="decoder", vocab_size=VOCAB) == [f"ERROR {cause}"]


@pytest.mark.parametrize("case", ["plain decoder", "plain encoder decoder", "our modern decoder"])
def test_a_module_that_always_answers_is_left_alone(case: str) -> None:
    assert causes("K38", **CASES[case].parts(NOWHERE)) == []


class InBlocks(Decoder):
    """Takes blocks of `size`, and runs into an error of the tensor's at any other length."""

    size = 8

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        blocks = input_ids.reshape(len(input_ids), -1, self.size)
        return super().forward(blocks.flatten(1), attention_mask)


class InPairs(InBlocks):
    size = 2


class AtLeast(Decoder):
    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        assert input_ids.shape[1] >= 4, "too short"
        return super().forward(input_ids, attention_mask)


@pytest.mark.parametrize(
    ("model", "found"),
    [
        (Blocked, "INFO lengths of its own"),
        (AtLeast, "INFO lengths of its own"),
        (InBlocks, "WARN shapes disagree"),
        (InPairs, "ERROR shapes disagree"),
    ],
)
def test_a_rule_for_lengths_is_told_from_an_error(model: type[Decoder], found: str) -> None:
    assert causes("K38", model=model(), kind="decoder", vocab_size=VOCAB) == [found]


def test_without_a_module_nothing_is_raised() -> None:
    assert causes("K38", loss=lambda logits, labels: logits.sum()) == ["-"]
