"""K22 on losses and collators as people write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from doctor.checks.asking import causes


def shifting(logits: Tensor, labels: Tensor) -> Tensor:
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())


def plain(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))


def through_model(model: nn.Module, batch: Any) -> Tensor:
    logits = model(batch["input_ids"])
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), batch["labels"][:, 1:].flatten())


def inside_model(model: nn.Module, batch: Any) -> Tensor:
    return model(**batch).loss


def pair(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    x, y = batch
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten())


def pair_shifted_again(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    x, y = batch
    return F.cross_entropy(model(x)[:, :-1].flatten(0, 1), y[:, 1:].flatten())


def unshifted(logits: Tensor, input_ids: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), input_ids.flatten())


def backwards(logits: Tensor, labels: Tensor) -> Tensor:
    return F.cross_entropy(logits[:, 1:].flatten(0, 1), labels[:, :-1].flatten())


def softmaxed(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits.softmax(-1).flatten(0, 1), targets.flatten())


def deaf(logits: Tensor, targets: Tensor) -> Tensor:
    return (logits.argmax(-1) * 0.0).mean() + 1.0


def to_next(examples: list[Tensor]) -> dict[str, Tensor]:
    ids = torch.stack(examples)
    return {"input_ids": ids[:, :-1], "labels": ids[:, 1:]}


def to_same(examples: list[dict[str, list[int]]]) -> dict[str, Tensor]:
    ids = torch.tensor([each["input_ids"] for each in examples])
    return {"input_ids": ids, "labels": ids.clone()}


def smoothed(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), label_smoothing=0.1)


SOUND: list[dict[str, Callable[..., Any]]] = [
    {"loss": shifting}, {"loss": plain}, {"loss": through_model}, {"loss": inside_model}, {"loss": pair},
    {"loss": smoothed}, {"loss": F.cross_entropy}, {"loss": nn.CrossEntropyLoss()},
    {"loss": plain, "collate": to_next}, {"loss": shifting, "collate": to_same},
    {"loss": inside_model, "collate": to_same},
]  # fmt: skip
FAULTY: list[tuple[dict[str, Callable[..., Any]], str]] = [
    ({"loss": shifting, "collate": to_next}, "ERROR labels shifted twice"),
    ({"loss": inside_model, "collate": to_next}, "ERROR labels shifted twice"),
    ({"loss": pair_shifted_again}, "ERROR labels shifted twice"),
    ({"loss": unshifted}, "ERROR labels not shifted"),
    ({"loss": plain, "collate": to_same}, "ERROR labels not shifted"),
    ({"loss": backwards}, "ERROR labels are the previous token"),
    ({"loss": softmaxed}, "ERROR softmax before the loss"),
    ({"loss": deaf}, "ERROR loss ignores the logits"),
]


@pytest.mark.parametrize("parts", SOUND)
def test_it_does_not_fire(parts: dict[str, Any]) -> None:
    assert causes("K22", kind="decoder", vocab_size=40, **parts) == []


@pytest.mark.parametrize(("parts", "cause"), FAULTY)
def test_it_fires(parts: dict[str, Any], cause: str) -> None:
    assert causes("K22", kind="decoder", vocab_size=40, **parts) == [cause]


def test_labels_that_nobody_moves_are_a_warning() -> None:
    def loss(logits: Tensor, labels: Tensor) -> Tensor:
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())

    assert causes("K22", kind="decoder", vocab_size=40, loss=loss) == ["WARN labels not shifted"]


def test_it_is_not_applicable_without_a_loss() -> None:
    assert causes("K22", kind="decoder", vocab_size=40) == ["-"]


class Own(nn.Module):
    """A decoder with its loss inside, shifted `by` places."""

    def __init__(self, by: int) -> None:
        super().__init__()
        self.tokens, self.head, self.by = nn.Embedding(40, 16), nn.Linear(16, 40), by

    def forward(self, input_ids: Tensor, labels: Tensor | None = None) -> Any:
        logits = self.head(self.tokens(input_ids))
        if labels is None:
            return logits
        end = logits.shape[1] - self.by
        return logits, F.cross_entropy(logits[:, :end].flatten(0, 1), labels[:, self.by :].flatten())


@pytest.mark.parametrize(
    ("by", "found"), [(1, []), (2, ["ERROR labels shifted twice"]), (0, ["WARN labels not shifted"])]
)
def test_a_loss_inside_the_model(by: int, found: list[str]) -> None:
    assert causes("K22", model=Own(by), kind="decoder", vocab_size=40) == found


def test_a_loss_that_shifts_what_the_collator_shifted_for_a_model_that_shifts() -> None:
    found = causes("K22", model=Own(1), kind="decoder", vocab_size=40, collate=to_next)
    assert found == ["ERROR labels shifted twice"]
