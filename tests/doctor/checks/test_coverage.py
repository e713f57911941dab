"""K35 on loaders that leave out, repeat, share or never shuffle."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, DistributedSampler, RandomSampler, TensorDataset

from doctor.checks.asking import causes

DATA = TensorDataset(torch.arange(50))


def batches(order: list[int], size: int = 4) -> list[list[int]]:
    return [order[at : at + size] for at in range(0, len(order), size)]


def shuffled(epoch: int) -> list[int]:
    return torch.randperm(50, generator=torch.Generator().manual_seed(epoch)).tolist()


def sharing(epoch: int, rank: int, world_size: int) -> list[list[int]]:
    return batches(shuffled(epoch)[rank::world_size])


def distributed(epoch: int, rank: int, world_size: int) -> DataLoader[Any]:
    sampler: Any = DistributedSampler(DATA, world_size, rank, shuffle=True)
    sampler.set_epoch(epoch)
    return DataLoader(DATA, batch_size=4, sampler=sampler)


def no_epoch(epoch: int, rank: int, world_size: int) -> DataLoader[Any]:
    return DataLoader(DATA, batch_size=4, sampler=DistributedSampler(DATA, world_size, rank, shuffle=True))


def all_to_all(epoch: int, rank: int, world_size: int) -> list[list[int]]:
    return batches(shuffled(epoch))


def test_loader(epoch: int) -> DataLoader[Any]:
    return DataLoader(DATA, batch_size=8, drop_last=True)


test_loader.__test__ = False  # type: ignore[attr-defined]


def short_dropped(epoch: int) -> DataLoader[Any]:
    whole: Any = [batch for batch in batches(shuffled(epoch)) if len(batch) == 4]
    return DataLoader(DATA, batch_sampler=whole)


def replaced(epoch: int) -> DataLoader[Any]:
    return DataLoader(DATA, batch_size=4, sampler=RandomSampler(DATA, replacement=True))


SOUND: list[Any] = [
    sharing, distributed, DataLoader(DATA, batch_size=4), DataLoader(DATA, batch_size=4, shuffle=True),
    lambda: batches(list(range(50))),
]  # fmt: skip
FAULTY: list[tuple[Any, str]] = [
    (no_epoch, "ERROR same order every epoch"), (all_to_all, "ERROR ranks read the same samples"),
    (test_loader, "ERROR drop_last in evaluation"), (short_dropped, "WARN samples left out"),
]  # fmt: skip


@pytest.mark.parametrize("loader", SOUND)
def test_it_does_not_fire(loader: Any) -> None:
    assert causes("K35", loader=loader) == []


@pytest.mark.parametrize(("loader", "cause"), FAULTY)
def test_it_fires(loader: Any, cause: str) -> None:
    assert causes("K35", loader=loader) == [cause]


def test_what_training_may_do_is_noted_or_a_warning() -> None:
    dropping = DataLoader(DATA, batch_size=8, shuffle=True, drop_last=True)
    assert causes("K35", loader=dropping) == ["INFO samples left out"]
    assert "WARN samples repeated" in causes("K35", loader=replaced)


def test_it_is_not_applicable_where_nothing_is_read() -> None:
    assert causes("K35") == ["-"]
    assert causes("K35", loader=lambda epoch: None) == ["-"]
