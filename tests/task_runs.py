"""A small text, and a run without the training loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from clearformer.model import Model
from clearformer.runs.folder import RunFolder
from clearformer.train.task import Task

TEXT = "".join(f"Line {n}: the cat number {n % 7} sat on the mat — 猫 {n % 3}.\n" for n in range(120))


def publish(task: Task[Any], model: Model, run: RunFolder) -> Path:
    published = task.published()
    run.publish(task.spec, dict(model.named_parameters()), published.files, published.generation, published.labels)
    return run.path


def train(task: Task[Any], model: Model, steps: int, lr: float) -> None:
    """The loop's bare heart; dropout draws from torch's own generator."""
    torch.manual_seed(0)
    model.train()
    batches, optimizer = task.training(), torch.optim.AdamW(model.parameters(), lr)
    for step in range(steps):
        epoch, number = divmod(step, batches.count(0))
        loss = task.loss(model, batches.batch(epoch, number))
        (loss.total / loss.units).backward()
        optimizer.step()
        optimizer.zero_grad()
    model.eval()
