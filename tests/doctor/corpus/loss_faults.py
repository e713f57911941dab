"""Losses and collators: labels out of step, padding counted, ends never supervised."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from doctor.corpus.case import Parts, faulty
from doctor.corpus.hand_written import VOCAB, Decoder
from doctor.corpus.losses import (
    BOS,
    EOS,
    IGNORED,
    PAD,
    Batch,
    aligned,
    next_tokens,
    of_model,
    padded,
    rows_of,
    shifting,
    unshifted,
)


def training(**parts: Any) -> Parts:
    ids = {"pad_id": PAD, "bos_id": BOS, "eos_id": EOS}
    return {"model": Decoder(), "kind": "decoder", "vocab_size": VOCAB, **ids, **parts}


@faulty("labels shifted twice", report="L1")
def collator_and_loss_both_shift() -> Parts:
    return training(loss=shifting, collate=next_tokens)


@faulty("labels shifted twice", report="L1")
def loss_of_the_model_shifts_shifted_labels() -> Parts:
    def loss(model: nn.Module, batch: Batch) -> Tensor:
        labels = torch.cat([batch["labels"][:, 1:], torch.full_like(batch["labels"][:, :1], IGNORED)], 1)
        logits = model(batch["input_ids"])
        return F.cross_entropy(logits[:, :-1].reshape(-1, VOCAB), labels[:, 1:].reshape(-1), ignore_index=IGNORED)

    return training(loss=loss, collate=unshifted)


@faulty("labels shifted twice", report="L1")
def loss_looks_two_ahead() -> Parts:
    def loss(logits: Tensor, labels: Tensor) -> Tensor:
        return F.cross_entropy(logits[:, :-2].transpose(1, 2), labels[:, 2:], ignore_index=IGNORED)

    return training(loss=loss)


@faulty("labels not shifted", report="L1")
def nobody_shifts() -> Parts:
    return training(loss=aligned, collate=unshifted)


@faulty("labels not shifted", report="L1")
def loss_of_the_model_asks_for_its_input() -> Parts:
    def loss(model: nn.Module, batch: Batch) -> Tensor:
        logits = model(batch["input_ids"], batch["attention_mask"])
        return F.cross_entropy(logits.view(-1, VOCAB), batch["labels"].view(-1), ignore_index=IGNORED)

    return training(loss=loss, collate=unshifted)


@faulty("labels are the previous token", report="L1")
def loss_looks_back() -> Parts:
    def loss(logits: Tensor, labels: Tensor) -> Tensor:
        return F.cross_entropy(logits[:, 1:].flatten(0, 1), labels[:, :-1].flatten(), ignore_index=IGNORED)

    return training(loss=loss, collate=unshifted)


@faulty("softmax before the loss", "probabilities as logits", report="N6")
def probabilities_into_cross_entropy() -> Parts:
    def loss(logits: Tensor, labels: Tensor) -> Tensor:
        return shifting(logits.softmax(-1), labels)

    return training(loss=loss, collate=unshifted)


@faulty("smoothing counts the padding", report="L4")
def smoothing_by_hand_over_padding() -> Parts:
    def loss(logits: Tensor, labels: Tensor) -> Tensor:
        logits, labels = logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten()
        told = F.log_softmax(logits, -1)
        exact = F.nll_loss(told, labels, ignore_index=IGNORED)
        return 0.9 * exact - 0.1 * told.mean(-1).mean()

    return training(loss=loss, collate=unshifted)


@faulty("loss divided by padded length", "padding counted in the loss", report="L4")
def sum_over_real_divided_by_all() -> Parts:
    def loss(logits: Tensor, labels: Tensor) -> Tensor:
        logits, labels = logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten()
        each = F.cross_entropy(logits, labels, ignore_index=IGNORED, reduction="none")
        return each.mean()

    return training(loss=loss, collate=unshifted)


@faulty("padding counted in the loss", report="L6")
def pads_are_targets() -> Parts:
    def collate(examples: list[Any]) -> Batch:
        ids = padded(rows_of(examples), PAD)
        return {"input_ids": ids, "attention_mask": (ids != PAD).long(), "labels": ids.clone()}

    return training(loss=shifting, collate=collate)


@faulty("padding counted in the loss", report="L6")
def log_probabilities_of_pads_are_added() -> Parts:
    def loss(logits: Tensor, labels: Tensor) -> Tensor:
        told = logits[:, :-1].log_softmax(-1)
        wanted = labels[:, 1:].clamp(min=0)
        return -told.gather(-1, wanted[..., None]).mean()

    return training(loss=loss, collate=unshifted)


@faulty("EOS never supervised", report="L3")
def every_pad_id_is_ignored_and_eos_is_pad() -> Parts:
    def collate(examples: list[Any]) -> Batch:
        ids = padded(rows_of(examples), EOS)
        return {"input_ids": ids, "attention_mask": (ids != EOS).long(), "labels": ids.masked_fill(ids == EOS, IGNORED)}

    return training(loss=shifting, collate=collate, pad_id=EOS)


@faulty("EOS never supervised", report="L3")
def the_last_token_is_cut_off() -> Parts:
    def collate(examples: list[Any]) -> Batch:
        return unshifted([row[:-1] for row in rows_of(examples)])

    return training(loss=shifting, collate=collate)


@faulty("rows without targets", "row without targets gives NaN", report="L5")
def truncation_leaves_the_prompt_only() -> Parts:
    def collate(examples: list[Any]) -> Batch:
        batch = unshifted([row[:12] for row in rows_of(examples)])
        batch["labels"][:, :12] = IGNORED
        return batch

    return training(loss=shifting, collate=collate)


@faulty("row without targets gives NaN", report="L5")
def mean_over_no_target() -> Parts:
    def loss(logits: Tensor, labels: Tensor) -> Tensor:
        each = F.cross_entropy(logits[:, :-1].transpose(1, 2), labels[:, 1:], ignore_index=IGNORED, reduction="none")
        real = (labels[:, 1:] != IGNORED).float()
        return (each.sum(1) / real.sum(1)).mean()

    return training(loss=loss, collate=unshifted)


@faulty("label out of range", report="L5")
def pads_are_labelled_minus_one() -> Parts:
    def collate(examples: list[Any]) -> Batch:
        rows = rows_of(examples)
        return {"input_ids": padded(rows, PAD), "labels": padded(rows, VOCAB)}

    return training(loss=shifting, collate=collate)


@faulty("collator's mask misses the pads", report="B5")
def mask_of_ones_over_pads() -> Parts:
    def collate(examples: list[Any]) -> Batch:
        batch = unshifted(examples)
        return batch | {"attention_mask": torch.ones_like(batch["input_ids"])}

    return training(loss=of_model, collate=collate)


@faulty("labels out of step with the ids", report="L1")
def labels_padded_on_the_other_side() -> Parts:
    def collate(examples: list[Any]) -> Batch:
        rows = rows_of(examples)
        left = padded([row.flip(0) for row in rows], PAD).flip(1)
        mask = padded([torch.ones_like(row) for row in rows], 0).flip(1)
        return {"input_ids": left, "attention_mask": mask, "labels": padded(rows, IGNORED)}

    return training(loss=of_model, collate=collate)
