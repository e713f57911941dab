"""What is lost when training goes on, and loaders that skip, repeat or never shuffle."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from doctor.corpus.case import Parts, faulty
from doctor.corpus.resuming import BATCH, EACH, Training, resumable, shuffled


class Forgetting(Training):
    """Takes up everything but what `lost` names."""

    lost = ""

    def take_up(self, state: dict[str, Any]) -> None:
        super().take_up(state | {self.lost: self.state()[self.lost]})


def forgets(name: str) -> Any:
    return resumable(type("Forgets", (Forgetting,), {"lost": name}))


@faulty("optimizer state lost on resume", "state lost on resume", report="D2")
def moments_start_at_zero() -> Parts:
    return {"resume": forgets("optimizer")}


@faulty("scheduler state lost on resume", "state lost on resume", report="D2")
def schedule_starts_again() -> Parts:
    class Again(Forgetting):
        lost = "scheduler"

        def take_up(self, state: dict[str, Any]) -> None:
            super().take_up(state)
            for group in self.optimizer.param_groups:
                group["lr"] = group["initial_lr"]

    return {"resume": resumable(Again)}


@faulty("generator state lost on resume", "state lost on resume", report="D2")
def dropout_draws_again_from_the_start() -> Parts:
    return {"resume": forgets("generator")}


@faulty("weights lost on resume", "resume starts over", "state lost on resume", report="D2")
def weights_are_drawn_again() -> Parts:
    return {"resume": forgets("model")}


@faulty("order after resume", report="D2")
def epoch_not_told_to_the_sampler() -> Parts:
    class Unset(Training):
        first = 0

        def take_up(self, state: dict[str, Any]) -> None:
            super().take_up(state)
            self.first = self.step // EACH

        def order(self, epoch: int) -> Tensor:
            return super().order(epoch - self.first)

    return {"resume": resumable(Unset)}


@faulty("order after resume", report="D2")
def epoch_begins_again() -> Parts:
    class Restarted(Training):
        skipped = 0

        def take_up(self, state: dict[str, Any]) -> None:
            super().take_up(state)
            self.skipped = self.step % EACH

        def batch(self) -> Tensor:
            epoch, place = divmod(self.step - self.skipped, EACH)
            return self.samples[self.order(epoch)[place * BATCH : (place + 1) * BATCH]]

    return {"resume": resumable(Restarted)}


@faulty("same order every epoch", report="D4")
def sampler_never_told_the_epoch() -> Parts:
    def loader(epoch: int, rank: int = 0, ranks: int = 1) -> DataLoader:
        data = TensorDataset(torch.arange(48))
        return DataLoader(data, batch_size=4, sampler=DistributedSampler(data, ranks, rank, shuffle=True))

    return {"loader": loader}


@faulty("same order every epoch", report="D4")
def loader_seeds_every_epoch_alike() -> Parts:
    def loader(epoch: int, rank: int = 0, ranks: int = 1) -> list[list[int]]:
        return shuffled(0, rank, ranks)

    return {"loader": loader}


@faulty("ranks read the same samples", report="D4")
def every_rank_reads_everything() -> Parts:
    def loader(epoch: int, rank: int = 0, ranks: int = 1) -> list[list[int]]:
        return shuffled(epoch)

    return {"loader": loader}


@faulty("ranks read the same samples", "samples left out", report="D4")
def ranks_shuffle_each_for_itself() -> Parts:
    def loader(epoch: int, rank: int = 0, ranks: int = 1) -> list[list[int]]:
        order = torch.randperm(48, generator=torch.Generator().manual_seed(100 * epoch + rank)).tolist()[rank::ranks]
        return [order[at : at + 4] for at in range(0, len(order), 4)]

    return {"loader": loader}


@faulty("drop_last in evaluation", "samples left out", report="S3")
def the_last_windows_are_not_scored() -> Parts:
    def loader(epoch: int, rank: int = 0, ranks: int = 1) -> DataLoader:
        data = TensorDataset(torch.arange(103))
        return DataLoader(data, batch_size=32, shuffle=False, drop_last=True)

    return {"loader": loader}


@faulty("samples left out", report="S3")
def short_batches_are_thrown_away() -> Parts:
    def loader(epoch: int, rank: int = 0, ranks: int = 1) -> DataLoader:
        whole = [batch for batch in shuffled(epoch, rank, ranks) if len(batch) == 4]
        return DataLoader(TensorDataset(torch.arange(50)), batch_sampler=whole)

    return {"loader": loader}
