"""A task small enough to train in a second: a decoder with dropout that learns to count, and what a test may break."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from clearformer import spec as s
from clearformer.data.batches import randomness
from clearformer.loss import IGNORE, Loss
from clearformer.model import Model
from clearformer.spec.presets import tiny_gpt
from clearformer.train.recipe import AdamW, Compute, Constant, Recipe, Watch
from clearformer.train.task import Metric, Progress, Published, Sample, Split

V, T = 7, 8


class Counting(NamedTuple):
    """Ids (B T) and the next ones, some of them ignored; and which batch of the run it is, from 1."""

    ids: Tensor
    targets: Tensor
    number: Tensor


@dataclass(frozen=True)
class CountingBatches:
    """Rows that count modulo V from a random start; a share of the targets is padding, another in each batch."""

    seed: int
    batches: int = 5
    rows: int = 3

    def count(self, epoch: int) -> int:
        return self.batches

    def batch(self, epoch: int, number: int) -> Counting:
        draw = randomness(self.seed, epoch, number)
        ids = (torch.from_numpy(draw.integers(0, V, (self.rows, 1))) + torch.arange(T + 1)) % V
        targets = ids[:, 1:].clone()
        targets[torch.from_numpy(draw.random(targets.shape) < 0.3)] = IGNORE
        return Counting(ids[:, :-1], targets, torch.tensor(epoch * self.batches + number + 1))


@dataclass(frozen=True, kw_only=True)
class CountingRecipe(Recipe):
    """Learn to count."""

    start: int = 0
    """Where counting starts."""


@dataclass
class CountingTask:
    """`spoiled` are batches, counted over the run from 1, whose loss is NaN."""

    dropout: float = 0.1
    spoiled: frozenset[int] = frozenset()
    evaluations: list[float] = field(default_factory=list)
    name: str = "counting"
    unit: str = "token"
    metric: Metric = Metric("loss")  # noqa: RUF009 - frozen

    @property
    def spec(self) -> s.Spec:
        return tiny_gpt(width=8, heads=2, layers=1, vocabulary=V, context=T, dropout=self.dropout)

    def training(self) -> CountingBatches:
        return CountingBatches(seed=1)

    def sizes(self) -> Mapping[str, int]:
        return {"training rows": 15}

    def units(self, batch: Counting) -> int:
        return int((batch.targets != IGNORE).sum())

    def loss(self, model: Model, batch: Counting) -> Loss:
        logits = model(batch.ids)
        total = functional.cross_entropy(
            logits.flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE, reduction="sum"
        )
        if int(batch.number) in self.spoiled:
            total = total * float("nan")
        return Loss(total, self.units(batch))

    def evaluate(
        self, model: Model, split: Split = "validation", *, progress: Progress | None = None
    ) -> dict[str, float]:
        assert not model.training
        torch.rand(3)  # draws, as sampling would; training must not notice
        batch = CountingBatches(seed=2, rows=6).batch(0, 0)
        if progress is not None:
            progress(1, 1)
        logits = model(batch.ids)
        loss = functional.cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE).item()
        self.evaluations.append(loss)
        return {"loss": loss}

    def samples(self, model: Model) -> tuple[Sample, ...]:
        torch.rand(5)
        return (Sample("0 1 2", str(int(model(torch.arange(3)[None])[0, -1].argmax())), "3"),)

    def published(self) -> Published:
        return Published({"counting.txt": b"0 1 2"})


def small_recipe(**changes: object) -> CountingRecipe:
    """A few steps with every choice of how to compute fixed, so that two runs compute alike."""
    plain = {
        "steps": 12,
        "seed": 3,
        "optimizer": AdamW(lr=0.01),
        "schedule": Constant(),
        "watch": Watch(evaluate=5, sample=6, save=4),
        "compute": Compute(compile="no", kernel="plain", switch="no", threads=1),
    }
    return CountingRecipe(**{**plain, **changes})  # type: ignore[arg-type]
