"""Training loops, sound: in plain torch, one optimizer step after another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

IGNORED = -100


def summed(model: nn.Module, batch: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    """The sum over the targets, and how many there are."""
    logits, labels = model(batch["input_ids"])[:, :-1], batch["labels"][:, 1:]
    total = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED, reduction="sum")
    return total, (labels != IGNORED).sum()


def loss_of(model: nn.Module, batch: dict[str, Tensor]) -> Tensor:
    total, count = summed(model, batch)
    return total / count


def warmed_up(step: int) -> float:
    """Never zero, and no update is the first with more than a tenth."""
    return min(1.0, (step + 1) / 10)


def plainly(model: nn.Module, batches: Iterable[dict[str, Tensor]]) -> list[float]:
    """Forward, backward, clip, step, schedule."""
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, warmed_up)
    losses = []
    for batch in batches:
        optimizer.zero_grad()
        loss = loss_of(model, batch)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    return losses


def together(model: nn.Module, held: list[dict[str, Tensor]], optimizer: torch.optim.Optimizer) -> float:
    """One update: every micro-batch's sum over the targets of all of them."""
    optimizer.zero_grad()
    count = sum((each["labels"][:, 1:] != IGNORED).sum() for each in held)
    total = 0.0
    for each in held:
        loss = summed(model, each)[0] / count
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


def accumulating(model: nn.Module, batches: Iterable[dict[str, Tensor]], accumulate: int = 2) -> list[float]:
    """One update for `accumulate` batches, its gradient over their targets together."""
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    held: list[dict[str, Tensor]] = []
    losses = []
    for batch in batches:
        held.append(batch)
        if len(held) < accumulate:
            continue
        losses.append(together(model, held, optimizer))
        held = []
    return losses


def scaled(model: nn.Module, batches: Iterable[dict[str, Tensor]]) -> None:
    """With a gradient scaler: unscale before the clip."""
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler: Any = torch.amp.GradScaler("cpu", init_scale=1024.0)
    for batch in batches:
        optimizer.zero_grad()
        scaler.scale(loss_of(model, batch)).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
