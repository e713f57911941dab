"""K32: documents in one row."""

from __future__ import annotations

import torch
from torch import Tensor

from doctor.checks.asking import causes
from doctor.corpus.hand_written import Decoder
from doctor.corpus.sight_faults import decoder, packed_documents_see_each_other


class Packed(Decoder):
    """Hides other documents, and counts positions anew in each where it is told to."""

    anew = True

    def forward(  # type: ignore[override]
        self, input_ids: Tensor, attention_mask: Tensor | None = None, document_ids: Tensor | None = None
    ) -> Tensor:
        if document_ids is None:
            return super().forward(input_ids, attention_mask)
        same = document_ids[:, :, None] == document_ids[:, None, :]
        positions = same.tril().sum(-1) - 1 if self.anew else torch.arange(input_ids.shape[1])
        x = self.tokens(input_ids) + self.places(positions)
        for block in self.blocks:
            read = block.attention
            heads = (read.split(each(block.norm1(x))) for each in (read.query, read.key, read.value))
            hidden = ~same[:, None] | read.hidden(input_ids.shape[1], input_ids.shape[1])
            x = x + read.out(read.merge(read.attend(*heads, hidden)))
            x = x + block.feedforward(block.norm2(x))
        return self.head(self.norm(x))


class RunningOn(Packed):
    anew = False


def test_documents_that_see_each_other() -> None:
    assert causes("K32", **packed_documents_see_each_other()) == ["ERROR documents mixed"]


def test_positions_that_run_on() -> None:
    assert causes("K32", **decoder(RunningOn())) == ["WARN positions not reset"]


def test_documents_apart() -> None:
    assert causes("K32", **decoder(Packed())) == []


def test_a_module_that_takes_no_documents() -> None:
    assert causes("K32", **decoder(Decoder())) == ["-"]
