"""Training speed side by side: the same batches, the same optimizer, one update at a time, in turn."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from clearformer.bench.rounds import Advance, Row, rows_of
from clearformer.bench.training_peers import Logits, Shape, initial_loss, next_token_loss, peer
from clearformer.errors import UsageError
from clearformer.messages import bench as messages

# nanoGPT's CPU setting for tinyshakespeare, and a small model of today's size.
SHAPES = {
    "char": Shape(layers=4, heads=4, width=128, context=64, batch=12, vocabulary=65),
    "small": Shape(layers=6, heads=6, width=384, context=256, batch=16, vocabulary=8192),
}
_FAR = 1.0


@dataclass
class Trainee:
    """A model with its optimizer; `loss` is what its users write, inputs and targets given, `around` what their updates
    run in."""

    name: str
    module: nn.Module
    loss: Callable[[Tensor, Tensor], Tensor]
    around: Callable[[], AbstractContextManager[object]] = nullcontext

    def __post_init__(self) -> None:
        self.module.train()
        matrices = [p for p in self.module.parameters() if p.dim() >= 2]
        vectors = [p for p in self.module.parameters() if p.dim() < 2]
        groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.99), fused=True)

    def step(self, inputs: Tensor, targets: Tensor) -> float:
        """One update, gradients clipped at 1 as all of them do."""
        loss = self.loss(inputs, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(self.module.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return float(loss.detach())


def peer_trainee(name: str, shape: Shape, dtype: torch.dtype, *, compiled: bool) -> Trainee:
    """A peer as its users train it: autocast for bfloat16, `torch.compile` where asked for."""
    torch.manual_seed(0)
    module, logits = peer(name, shape)
    called: Logits = torch.compile(logits) if compiled else logits

    def loss(inputs: Tensor, targets: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=dtype, enabled=dtype != torch.float32):
            return next_token_loss(called(inputs), targets)

    return Trainee(name, module, loss)


def measure_training(
    trainees: Sequence[Trainee], shape: Shape, *, runs: int, steps: int, advance: Advance
) -> list[Row]:
    """Tokens a second over `steps` updates a run, in `runs` rounds. A peer's ratio is the median over the rounds of how
    many times as fast the first trainee was.

    Raises UsageError for a trainee whose first loss is far from that of a model that knows nothing.
    """
    batches = _batches(shape, steps)
    for trainee in trainees:
        with trainee.around():
            first = trainee.step(*batches[0])
            if abs(first - initial_loss(shape)) > _FAR:
                raise UsageError(messages.FAR_LOSS, name=trainee.name, found=first, expected=initial_loss(shape))
            trainee.step(*batches[0])
    figures: list[list[float]] = [[] for _ in trainees]
    total = runs * len(trainees)
    for number in range(runs):
        for place, trainee in enumerate(trainees):
            with trainee.around():
                began = time.perf_counter()
                for inputs, targets in batches:
                    trainee.step(inputs, targets)
                seconds = time.perf_counter() - began
            figures[place].append(steps * shape.batch * shape.context / seconds)
            advance(number * len(trainees) + place + 1, total)
    ours, *others = rows_of([trainee.name for trainee in trainees], "tok/s", figures)
    ratios = [statistics.median(a / b for a, b in zip(figures[0], peer, strict=True)) for peer in figures[1:]]
    return [replace(ours, ratio=None), *(replace(row, ratio=r) for row, r in zip(others, ratios, strict=True))]


def _batches(shape: Shape, count: int) -> list[tuple[Tensor, Tensor]]:
    generator = torch.Generator().manual_seed(0)
    size = (shape.batch, shape.context + 1)
    drawn = (torch.randint(shape.vocabulary, size, generator=generator) for _ in range(count))
    return [(ids[:, :-1], ids[:, 1:]) for ids in drawn]
