"""K33 on loops as people write them: one fault each, and the sound loop in several forms."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from doctor.checks.asking import causes
from doctor.corpus import variant_faults as variants

VOCAB = 40
Batches = Iterable[Any]


def loss_of(model: nn.Module, batch: Any, reduction: str = "mean") -> Tensor:
    x, y = batch
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction=reduction)


def pairs(model: nn.Module, batches: Batches) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in batches:
        optimizer.zero_grad()
        loss_of(model, batch).backward()
        optimizer.step()


def hugging_face(
    model: nn.Module, train_dataloader: Batches, optimizer: Any, lr_scheduler: Any, epochs: int = 1
) -> None:
    for _ in range(epochs):
        for batch in train_dataloader:
            output = model(**batch)
            output.loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            lr_scheduler.step()
            optimizer.zero_grad()


def nano(model: nn.Module, get_batch: Callable[..., Any], max_iters: int) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(max_iters):
        for group in optimizer.param_groups:
            group["lr"] = 1e-3 * (step + 1) / max_iters
        x, y = get_batch("train")
        _, loss = model(x, targets=y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()


def endless(model: nn.Module, batches: Batches) -> None:
    while True:
        pairs(model, batches)


def by_all_targets(model: nn.Module, batches: list[Any], accum_steps: int) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for at in range(0, len(batches), accum_steps):
        held = batches[at : at + accum_steps]
        count = sum(y.numel() for _, y in held)
        for batch in held:
            (loss_of(model, batch, "sum") / count).backward()
        optimizer.step()
        optimizer.zero_grad()


def faulty(fault: str) -> Callable[..., None]:
    def train(model: nn.Module, batches: Batches, grad_accum: int = 2) -> None:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0 if fault == "lr" else 0.1)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda at: at / 4 if fault == "lr first" else 1.0)
        scaler: Any = torch.amp.GradScaler("cpu", enabled=fault == "unscale")
        many = grad_accum if fault in ("means", "sums", "clip inside") else 1
        for at, batch in enumerate(batches):
            if fault == "eval":
                model.eval()
            loss = loss_of(model, batch) / (many if fault in ("means", "clip inside") else 1)
            scaler.scale(loss).backward() if fault in ("unscale", "update") else loss.backward()
            if fault in ("unscale", "clip inside"):
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            if (at + 1) % many:
                continue
            if fault == "zero first":
                optimizer.zero_grad()
            if fault in ("unscale", "update"):
                scaler.step(optimizer)
            else:
                optimizer.step()
            if fault == "unscale":
                scaler.update()
            if fault == "clip late":
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for _ in range({"twice": 2, "idle": 0}.get(fault, 1)):
                scheduler.step()
            if fault != "never zero":
                optimizer.zero_grad()

    return train


FAULTS = {
    "means": "WARN accumulation by mean of means", "sums": "WARN accumulation not divided",
    "never zero": "ERROR gradients not zeroed", "zero first": "ERROR gradients zeroed before the step",
    "unscale": "ERROR clip before unscale", "update": "WARN scaler never updated",
    "clip late": "ERROR clip after the step",
    "clip inside": "WARN clip inside accumulation", "twice": "ERROR scheduler stepped N times",
    "idle": "WARN scheduler never stepped", "lr": "ERROR learning rate zero",
    "lr first": "WARN learning rate zero at first",
}  # fmt: skip


@pytest.mark.parametrize("train", [pairs, hugging_face, nano, endless, by_all_targets, faulty("none")])
def test_it_does_not_fire(train: Callable[..., Any]) -> None:
    assert causes("K33", train=train, vocab_size=VOCAB) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_it_fires(fault: str) -> None:
    assert FAULTS[fault] in causes("K33", train=faulty(fault), vocab_size=VOCAB)


class Dropping(nn.Sequential):
    def __init__(self) -> None:
        super().__init__(nn.Embedding(VOCAB, 8), nn.Dropout(0.1), nn.Linear(8, VOCAB))


def test_the_users_own_module_is_copied() -> None:
    model = Dropping()
    kept = [parameter.clone() for parameter in model.parameters()]
    parts = {"model": model, "kind": "decoder", "vocab_size": VOCAB}
    assert causes("K33", train=faulty("eval"), **parts) == ["WARN training in evaluation mode"]
    assert all(torch.equal(old, new) for old, new in zip(kept, model.parameters(), strict=True))

    def head_only(model: nn.Sequential, batches: Batches) -> None:
        optimizer = torch.optim.SGD(model[-1].parameters(), lr=0.1)
        for batch in batches:
            optimizer.zero_grad()
            loss_of(model, batch).backward()
            optimizer.step()

    assert causes("K33", train=head_only, **parts) == ["WARN optimizer lacks parameters"]

    def of_a_copy(model: nn.Sequential, batches: Batches) -> None:
        optimizer = torch.optim.SGD(Dropping().parameters(), lr=0.1)
        for batch in batches:
            optimizer.zero_grad()
            loss_of(model, batch).backward()
            optimizer.step()

    assert causes("K33", train=of_a_copy, **parts) == ["ERROR weights do not move"]


def test_it_is_not_applicable_where_no_form_runs() -> None:
    assert causes("K33", vocab_size=VOCAB) == ["-"]
    assert causes("K33", train=lambda model, batches: None, vocab_size=VOCAB) == ["-"]


def test_torch_is_left_as_it_was() -> None:
    before = torch.autograd.backward, torch.optim.lr_scheduler.LRScheduler.step, torch.amp.GradScaler.step
    causes("K33", train=pairs, vocab_size=VOCAB)
    assert before == (torch.autograd.backward, torch.optim.lr_scheduler.LRScheduler.step, torch.amp.GradScaler.step)


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        (variants.optimizer_inside_the_loop, ["ERROR optimizer made anew"]),
        (variants.warm_up_counted_in_turns_of_four_updates, ["WARN warm-up off its plan"]),
        (variants.warm_up_counted_in_updates, []),
        (variants.loss_wrapped_in_a_new_tensor, ["ERROR weights do not move"]),
    ],
)
def test_what_an_update_remembers_and_how_fast_its_rate_rises(parts: Any, found: list[str]) -> None:
    assert causes("K33", **parts()) == found
