"""Training speed side by side: the same batches, the same optimizer, one update at a time, in turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from clearformer.bench.language_peers import LANGUAGE_PEERS, next_token_loss
from clearformer.bench.pair_peers import PAIR_PEERS
from clearformer.bench.rounds import Advance, Row, rows_of
from clearformer.bench.shapes import LanguageShape, Shape, initial_loss
from clearformer.errors import UsageError
from clearformer.messages import bench as messages

_FAR = 1.0
BatchLoss = Callable[..., Tensor]


@dataclass
class Trainee:
    """A model with its optimizer; `loss` is what its users write, given the parts of a batch, `around` what their
    updates run in."""

    name: str
    module: nn.Module
    loss: BatchLoss
    around: Callable[[], AbstractContextManager[object]] = nullcontext

    def __post_init__(self) -> None:
        self.module.train()
        matrices = [p for p in self.module.parameters() if p.dim() >= 2]
        vectors = [p for p in self.module.parameters() if p.dim() < 2]
        groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.99), fused=True)

    def step(self, *batch: Tensor) -> float:
        """One update, gradients clipped at 1 as all of them do."""
        loss = self.loss(*batch)
        loss.backward()
        nn.utils.clip_grad_norm_(self.module.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return float(loss.detach())


def peer_trainee(name: str, shape: Shape, dtype: torch.dtype, *, compiled: bool) -> Trainee:
    """A peer as its users train it: autocast for bfloat16, `torch.compile` where asked for. Raises UsageError for an
    unknown name or a library that is not installed."""
    torch.manual_seed(0)
    module, plain = _peer(name, shape)
    called: BatchLoss = torch.compile(plain) if compiled else plain

    def loss(*batch: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=dtype, enabled=dtype != torch.float32):
            return called(*batch)

    return Trainee(name, module, loss)


def _peer(name: str, shape: Shape) -> tuple[nn.Module, BatchLoss]:
    known = LANGUAGE_PEERS if isinstance(shape, LanguageShape) else PAIR_PEERS
    if name not in known:
        raise UsageError(messages.UNKNOWN_PEER, found=name, known=", ".join(known))
    package = known[name][0] or ""
    try:
        if isinstance(shape, LanguageShape):
            module, logits = LANGUAGE_PEERS[name][1](shape)
            return module, next_token_loss(logits)
        return PAIR_PEERS[name][1](shape)
    except ModuleNotFoundError as error:
        raise UsageError(messages.NO_PEER, name=name, package=package.replace("_", "-")) from error


def measure_training(
    trainees: Sequence[Trainee], shape: Shape, *, runs: int, steps: int, advance: Advance
) -> list[Row]:
    """Tokens a second over `steps` updates a run, in `runs` rounds. A peer's ratio is the median over the rounds of how
    many times as fast the first trainee was.

    Raises UsageError for a trainee whose first loss is far from that of a model that knows nothing.
    """
    batches = shape.batches(steps)
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
                for batch in batches:
                    trainee.step(*batch)
                seconds = time.perf_counter() - began
            figures[place].append(steps * shape.tokens / seconds)
            advance(number * len(trainees) + place + 1, total)
    return rows_of([trainee.name for trainee in trainees], "tok/s", figures)
