"""Sound losses and collators in the forms that people write them, and what faults are planted in."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

PAD, BOS, EOS, IGNORED = 0, 1, 2, -100
Batch = dict[str, Tensor]


def shifting(logits: Tensor, labels: Tensor) -> Tensor:
    """Labels as the ids stand: the loss shifts."""
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=IGNORED)


def aligned(logits: Tensor, labels: Tensor) -> Tensor:
    """Labels that are already the next token."""
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED)


def padded(rows: list[Tensor], value: int) -> Tensor:
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=value)


def rows_of(examples: list[Any]) -> list[Tensor]:
    """Examples as dictionaries with `input_ids`, or bare lists of ids."""
    return [torch.as_tensor(each["input_ids"] if isinstance(each, dict) else each) for each in examples]


def unshifted(examples: list[Any]) -> Batch:
    """As Hugging Face's collators: labels are the ids, pads ignored."""
    rows = rows_of(examples)
    ids, labels = padded(rows, PAD), padded(rows, IGNORED)
    mask = padded([torch.ones_like(row) for row in rows], 0)
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def next_tokens(examples: list[Any]) -> Batch:
    """Inputs without the last token, labels without the first."""
    rows = rows_of(examples)
    ids, labels = padded([row[:-1] for row in rows], PAD), padded([row[1:] for row in rows], IGNORED)
    mask = padded([torch.ones_like(row[:-1]) for row in rows], 0)
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def of_model(model: nn.Module, batch: Batch) -> Tensor:
    """The (model, batch) form."""
    return shifting(model(batch["input_ids"], batch.get("attention_mask")), batch["labels"])
