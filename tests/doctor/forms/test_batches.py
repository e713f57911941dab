"""What is what in a batch: by name, by place, by content."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from clearformer.doctor.forms.batches import Lenient, padded, read
from clearformer.doctor.forms.trial import UnfitError

IDS, LABELS, MASK = torch.tensor([[5, 6, 7]]), torch.tensor([[6, 7, -100]]), torch.tensor([[1, 1, 0]])


@pytest.mark.parametrize(
    "raw",
    [
        {"input_ids": IDS, "labels": LABELS, "attention_mask": MASK}, {"x": IDS, "y": LABELS, "mask": MASK},
        (IDS, LABELS, MASK), [IDS, MASK, LABELS], SimpleNamespace(tokens=IDS, targets=LABELS, padding_mask=MASK),
        {"input_ids": IDS.tolist(), "labels": LABELS.tolist(), "attention_mask": MASK.tolist()},
    ],
)  # fmt: skip
def test_ids_labels_and_mask_are_found(raw: Any) -> None:
    batch = read(raw)
    assert batch.labels is not None
    assert batch.mask is not None
    assert torch.equal(batch.ids, IDS)
    assert torch.equal(batch.labels, LABELS)
    assert torch.equal(batch.mask, MASK)


def test_the_target_side_of_two() -> None:
    source = torch.tensor([[9, 9, 9, 9]])
    for raw in ((source, IDS, LABELS), {"input_ids": source, "decoder_input_ids": IDS, "labels": LABELS}):
        batch = read(raw, target_side=True)
        assert batch.ids is IDS
        assert batch.labels is LABELS


def test_what_holds_no_ids_is_refused() -> None:
    for raw in ({"input": "text"}, torch.randn(2, 3), 7, None):
        with pytest.raises(UnfitError):
            read(raw)


def test_a_lenient_batch_answers_to_other_names() -> None:
    batch = Lenient(input_ids=IDS, labels=LABELS)
    assert batch["tokens"] is IDS
    assert batch["targets"] is LABELS
    with pytest.raises(KeyError):
        batch["picture"]


def test_rows_are_filled_at_the_right() -> None:
    assert padded([[1], [2, 3]], 0).tolist() == [[1, 0], [2, 3]]
