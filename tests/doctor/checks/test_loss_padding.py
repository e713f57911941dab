"""K23 on losses that count what is padding, and on some that do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from doctor.checks.asking import causes

IGNORED = -100


def flat(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    return logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten()


def mean(logits: Tensor, ids: Tensor) -> Tensor:
    return F.cross_entropy(*flat(logits, ids))


def total(logits: Tensor, ids: Tensor) -> Tensor:
    return F.cross_entropy(*flat(logits, ids), reduction="sum")


def total_by_rows(logits: Tensor, ids: Tensor) -> Tensor:
    return total(logits, ids) / len(ids)


def smoothed(logits: Tensor, ids: Tensor) -> Tensor:
    return F.cross_entropy(*flat(logits, ids), label_smoothing=0.1)


def pad_is_zero(logits: Tensor, ids: Tensor) -> Tensor:
    return F.cross_entropy(*flat(logits, ids), ignore_index=0)


def of_each_row(logits: Tensor, ids: Tensor) -> Tensor:
    each = F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none")
    return each.sum(1) / (ids[:, 1:] != IGNORED).sum(1).clamp(min=1)


def rows_first(logits: Tensor, ids: Tensor) -> Tensor:
    return of_each_row(logits, ids).mean()


def by_padded_length(logits: Tensor, ids: Tensor) -> Tensor:
    return F.cross_entropy(*flat(logits, ids), reduction="none").mean()


def smoothing_by_hand(logits: Tensor, ids: Tensor) -> Tensor:
    said, labels = flat(logits.log_softmax(-1), ids)
    return 0.9 * F.nll_loss(said, labels) - 0.1 * said.mean()


def clamped(logits: Tensor, ids: Tensor) -> Tensor:
    said, labels = flat(logits.log_softmax(-1), ids)
    return -said.gather(-1, labels.clamp(min=0)[:, None]).mean()


def of_model(model: nn.Module, batch: Any) -> Tensor:
    return mean(model(batch["input_ids"]), batch["labels"])


def of_model_by_length(model: nn.Module, batch: Any) -> Tensor:
    return by_padded_length(model(batch["input_ids"]), batch["labels"])


SOUND: list[Callable[..., Any]] = [mean, total, total_by_rows, smoothed, pad_is_zero, of_each_row, rows_first, of_model]
FAULTY: list[tuple[Callable[..., Any], str]] = [
    (by_padded_length, "loss divided by padded length"),
    (of_model_by_length, "loss divided by padded length"),
    (smoothing_by_hand, "smoothing counts the padding"),
    (clamped, "padding counted in the loss"),
]


@pytest.mark.parametrize("loss", SOUND)
def test_it_does_not_fire(loss: Callable[..., Any]) -> None:
    assert not [found for found in causes("K23", loss=loss, vocab_size=40, pad_id=0) if not found.startswith("INFO")]


@pytest.mark.parametrize(("loss", "cause"), FAULTY)
def test_it_fires(loss: Callable[..., Any], cause: str) -> None:
    assert causes("K23", loss=loss, vocab_size=40, pad_id=0) == [f"ERROR {cause}"]


def test_pads_that_the_collator_makes_targets() -> None:
    def collate(rows: list[Tensor]) -> dict[str, Tensor]:
        ids = nn.utils.rnn.pad_sequence(rows, batch_first=True)
        return {"input_ids": ids, "labels": ids.clone()}

    assert causes("K23", loss=mean, collate=collate, vocab_size=40) == ["ERROR padding counted in the loss"]
    assert causes("K23", loss=pad_is_zero, collate=collate, vocab_size=40) == []


def test_a_row_without_targets() -> None:
    def loss(logits: Tensor, ids: Tensor) -> Tensor:
        each = F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none")
        return (each.sum(1) / (ids[:, 1:] != IGNORED).sum(1)).mean()

    assert "ERROR row without targets gives NaN" in causes("K23", loss=loss, vocab_size=40)


def test_a_mean_of_each_row_first_is_only_noted() -> None:
    assert causes("K23", loss=rows_first, vocab_size=40) == ["INFO rows averaged before the batch"]


def test_it_is_not_applicable_where_nothing_is_padded() -> None:
    assert causes("K23", vocab_size=40) == ["-"]
    assert causes("K23", loss=mean, collate=lambda rows: torch.stack(rows), vocab_size=40) == ["-"]


def test_a_loss_that_ignores_nothing_is_noted_where_no_padding_is_declared() -> None:
    def loss(logits: Tensor, targets: Tensor) -> Tensor:
        return F.cross_entropy(logits.flatten(0, 1), targets.clamp(min=0).flatten())

    assert causes("K23", loss=loss, vocab_size=40) == ["INFO padding counted in the loss"]
    assert causes("K23", loss=loss, vocab_size=40, pad_id=0) == ["ERROR padding counted in the loss"]
