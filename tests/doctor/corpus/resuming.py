"""Training that goes on from a folder, and loaders of several ranks, sound; `Training` has the seams for faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from doctor.corpus.hand_written import VOCAB, Decoder
from doctor.corpus.losses import shifting

SAMPLES, BATCH = 12, 3
EACH = SAMPLES // BATCH


class Training:
    """Twelve fixed sequences, a shuffle an epoch, dropout, AdamW and a falling learning rate."""

    def __init__(self) -> None:
        torch.manual_seed(11)
        self.samples = torch.randint(4, VOCAB, (SAMPLES, 10))
        self.model = nn.ModuleDict({"decoder": Decoder(), "dropout": nn.Dropout(0.1)})
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-2)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda step: 1 / (1 + 0.3 * step))
        self.step = 0

    def order(self, epoch: int) -> Tensor:
        return torch.randperm(SAMPLES, generator=torch.Generator().manual_seed(epoch))

    def batch(self) -> Tensor:
        epoch, place = divmod(self.step, EACH)
        return self.samples[self.order(epoch)[place * BATCH : (place + 1) * BATCH]]

    def advance(self) -> float:
        ids = self.batch()
        loss = shifting(self.model["dropout"](self.model["decoder"](ids)), ids)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.scheduler.step()
        self.step += 1
        return loss.item()

    def state(self) -> dict[str, Any]:
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scheduler": self.scheduler.state_dict(),
            "generator": torch.get_rng_state(),
            "step": self.step,
        }

    def take_up(self, state: dict[str, Any]) -> None:
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.scheduler.load_state_dict(state["scheduler"])
        torch.set_rng_state(state["generator"])
        self.step = state["step"]


def resumable(kind: type[Training] = Training) -> Any:
    """(folder, steps) → the losses of the steps made in this call."""

    def resume(folder: str | Path, steps: int) -> list[float]:
        training, path = kind(), Path(folder) / "state.pt"
        if path.exists():
            training.take_up(torch.load(path, weights_only=True))
        losses = [training.advance() for _ in range(steps - training.step)]
        torch.save(training.state(), path)
        return losses

    return resume


def shuffled(epoch: int, rank: int = 0, ranks: int = 1) -> list[list[int]]:
    """Each rank its own share of one shuffle, another each epoch; the last batch may be short."""
    order = torch.randperm(50, generator=torch.Generator().manual_seed(100 + epoch)).tolist()[rank::ranks]
    return [order[at : at + 4] for at in range(0, len(order), 4)]
