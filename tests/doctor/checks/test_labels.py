"""K24 on collators as people write them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from doctor.checks.asking import causes

PAD, EOS, IGNORED, VOCAB = 0, 2, -100, 60


def padded(rows: list[Tensor], value: int) -> Tensor:
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=value)


def sound(rows: list[Tensor]) -> dict[str, Tensor]:
    mask = padded([torch.ones_like(row) for row in rows], 0)
    return {"input_ids": padded(rows, PAD), "attention_mask": mask, "labels": padded(rows, IGNORED)}


def sound_pairs(rows: list[Tensor]) -> tuple[Tensor, Tensor]:
    ids = padded(rows, PAD)
    return ids[:, :-1], ids[:, 1:]


def sound_answers(examples: list[dict[str, Any]]) -> dict[str, Tensor]:
    rows = [torch.tensor([*each["prompt"], *each["completion"]]) for each in examples]
    labels = [torch.tensor([*[IGNORED] * len(each["prompt"]), *each["completion"]]) for each in examples]
    return sound(rows) | {"labels": padded(labels, IGNORED)}


def end_is_pad(rows: list[Tensor]) -> dict[str, Tensor]:
    ids = padded(rows, EOS)
    return {"input_ids": ids, "labels": ids.masked_fill(ids == EOS, IGNORED)}


def no_targets(examples: list[dict[str, Any]]) -> dict[str, Tensor]:
    batch = sound_answers(examples)
    return {name: tensor[:, :16] for name, tensor in batch.items()}


def one_mask(rows: list[Tensor]) -> dict[str, Tensor]:
    return sound(rows) | {"attention_mask": torch.ones_like(padded(rows, PAD))}


def beyond(rows: list[Tensor]) -> dict[str, Tensor]:
    return sound(rows) | {"input_ids": padded(rows, VOCAB)}


def label_beyond(rows: list[Tensor]) -> dict[str, Tensor]:
    return sound(rows) | {"labels": padded(rows, VOCAB)}


def twice(rows: list[Tensor]) -> tuple[Tensor, Tensor]:
    ids = padded(rows, PAD)
    return ids[:, :-2], ids[:, 2:]


def prompt_too(examples: list[dict[str, Any]]) -> dict[str, Tensor]:
    rows = [torch.tensor([*each["prompt"], *each["completion"]]) for each in examples]
    return sound(rows)


def one_too_many(examples: list[dict[str, Any]]) -> dict[str, Tensor]:
    batch = sound_answers(examples)
    for row, each in zip(batch["labels"], examples, strict=True):
        row[len(each["prompt"])] = IGNORED
    return batch


def other_side(rows: list[Tensor]) -> dict[str, Tensor]:
    return sound(rows) | {"input_ids": padded([row.flip(0) for row in rows], PAD).flip(1)}


def pads_as_labels(rows: list[Tensor]) -> dict[str, Tensor]:
    return sound(rows) | {"labels": padded(rows, PAD)}


def begins_only(examples: list[dict[str, Any]]) -> dict[str, Tensor]:
    return sound_answers([each | {"prompt": [1, *each["prompt"]]} for each in examples])


def pad_is_end(rows: list[Tensor]) -> dict[str, Tensor]:
    """Padded with the end, whose own labels stay."""
    return sound(rows) | {"input_ids": padded(rows, EOS)}


FAULTY = [
    (end_is_pad, "ERROR EOS never supervised"), (no_targets, "WARN rows without targets"),
    (one_mask, "WARN collator's mask misses the pads"), (beyond, "ERROR ids beyond the vocabulary"),
    (label_beyond, "ERROR label out of range"), (twice, "ERROR labels shifted twice"),
    (prompt_too, "WARN prompt supervised"), (one_too_many, "WARN first answer token not supervised"),
    (pads_as_labels, "WARN padding counted in the loss"),
    (other_side, "ERROR labels out of step with the ids"),
]  # fmt: skip


@pytest.mark.parametrize("collate", [sound, sound_pairs, sound_answers, pad_is_end])
def test_it_does_not_fire(collate: Any) -> None:
    assert causes("K24", collate=collate, vocab_size=VOCAB, pad_id=PAD, eos_id=EOS, kind="decoder") == []


@pytest.mark.parametrize(("collate", "cause"), FAULTY)
def test_it_fires(collate: Any, cause: str) -> None:
    assert causes("K24", collate=collate, vocab_size=VOCAB, eos_id=EOS, kind="decoder")[0] == cause


def test_a_loss_that_ignores_the_end() -> None:
    def loss(logits: Tensor, ids: Tensor) -> Tensor:
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=EOS)

    assert causes("K24", loss=loss, vocab_size=VOCAB, eos_id=EOS) == ["ERROR EOS never supervised"]
    assert causes("K24", loss=loss, vocab_size=VOCAB, eos_id=EOS + 1) == []


def test_the_end_is_known_from_a_constant_beside_the_collator() -> None:
    assert causes("K24", collate=end_is_pad, vocab_size=VOCAB) == ["ERROR EOS never supervised"]


def test_it_is_not_applicable_without_a_collator() -> None:
    assert causes("K24", vocab_size=VOCAB) == ["-"]
    assert causes("K24", collate=lambda rows: len(rows), vocab_size=VOCAB) == ["-"]


def test_a_beginning_that_the_collator_adds_without_an_end() -> None:
    marks = {"vocab_size": VOCAB, "bos_id": 1, "eos_id": EOS, "kind": "decoder"}
    assert causes("K24", collate=begins_only, **marks) == ["WARN EOS never supervised"]
    assert causes("K24", collate=sound_answers, **marks) == []


def test_pads_among_the_labels_are_the_loss_s_matter_where_it_is_handed_in() -> None:
    def loss(logits: Tensor, labels: Tensor) -> Tensor:
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=PAD)

    assert causes("K24", collate=pads_as_labels, loss=loss, vocab_size=VOCAB, eos_id=EOS, kind="decoder") == []
