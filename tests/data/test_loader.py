"""A loader hands out the same batches from any position on, whoever reads them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from torch import Tensor
from torch.utils.data import get_worker_info

from clearformer.data.batches import Position, order, randomness
from clearformer.data.loader import Loader
from clearformer.errors import DataError, TrainingError
from clearformer.messages import data as say


class Drawn(NamedTuple):
    where: Tensor
    numbers: Tensor
    nothing: None = None


@dataclass(frozen=True)
class Noise:
    """Epochs of 5, 6, 7 … batches; one of them may kill the process that reads it, or fail there."""

    deadly: int = -1
    failing: int = -1

    def count(self, epoch: int) -> int:
        return 5 + epoch

    def batch(self, epoch: int, number: int) -> Drawn:
        if get_worker_info() is not None and number == self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        if number == self.failing:
            raise ValueError("no such sample")
        return Drawn(torch.tensor([epoch, number]), torch.from_numpy(randomness(3, epoch, number).random(4)))


def read(loader: Loader[Drawn], count: int) -> list[tuple[list[int], list[float]]]:
    return [(batch.where.tolist(), batch.numbers.tolist()) for batch in islice(loader, count)]


@pytest.mark.parametrize("workers", [0, 2])
def test_every_batch_of_every_epoch_comes_once_and_in_order(workers: int) -> None:
    loader = Loader(Noise(), workers=workers)
    expected = [[epoch, number] for epoch in range(3) for number in range(5 + epoch)]
    assert [where for where, _ in read(loader, 18)] == expected
    assert loader.position in (Position(2, 7), Position(3, 0))
    loader.close()


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("stopped", [0, 3, 5, 6, 11])
def test_a_loader_goes_on_from_where_another_stopped(stopped: int, workers: int) -> None:
    whole = read(Loader(Noise()), 14)
    first = Loader(Noise(), workers=workers)
    before = read(first, stopped)
    # Through JSON, as a run's state keeps it. Workers have read ahead by now; the position must not.
    position = Position.of(first.position.facts())
    first.close()
    second = Loader(Noise(), workers=2 - workers, position=position)
    assert before + read(second, 14 - stopped) == whole
    second.close()


@pytest.mark.parametrize("workers", [0, 2])
def test_a_closed_loader_reads_on(workers: int) -> None:
    loader = Loader(Noise(), workers=workers)
    before = read(loader, 3)
    loader.close()
    assert before + read(loader, 4) == read(Loader(Noise()), 7)
    loader.close()


@pytest.mark.parametrize("workers", [0, 2])
def test_reading_draws_no_random_numbers_of_the_model(workers: int) -> None:
    """Else a run that was resumed within an epoch would drop out other activations than one that was not."""
    torch.manual_seed(5)
    state = torch.get_rng_state()
    loader = Loader(Noise(), workers=workers)
    read(loader, 7)
    loader.close()
    assert torch.equal(torch.get_rng_state(), state)


def test_a_dead_worker_is_named_and_loses_nothing() -> None:
    loader = Loader(Noise(deadly=3), workers=2)
    with pytest.raises(TrainingError, match=r"has died \(DataLoader worker \(pid"):
        read(loader, 5)
    position = loader.position
    assert position.epoch == 0
    assert position.batch <= 3
    rest = read(Loader(Noise(), position=position), 6)
    assert rest == read(Loader(Noise()), position.batch + 6)[position.batch :]


def test_what_fails_in_a_worker_is_told_at_once() -> None:
    """The workers end with their loader: torch waits five seconds for each that the garbage collector finds."""
    began = time.perf_counter()
    loader = Loader(Noise(failing=2), workers=2)
    with pytest.raises(ValueError, match="worker process"):
        read(loader, 5)
    assert not multiprocessing.active_children()
    assert time.perf_counter() - began < 5
    with pytest.raises(ValueError, match="no such sample"):
        read(Loader(Noise(failing=2)), 5)


class Damaged(Noise):
    def batch(self, epoch: int, number: int) -> Drawn:
        raise DataError(say.NO_FILE, path=Path("here"), detail=OSError("no permission"))


@pytest.mark.parametrize("workers", [0, 2])
def test_an_error_of_ours_comes_out_of_a_worker_as_it_is(workers: int) -> None:
    with pytest.raises(DataError, match="here cannot be read: no permission") as caught:
        read(Loader(Damaged(), workers=workers), 1)
    assert "无法读取 here" in caught.value.cause("zh")
    assert not multiprocessing.active_children()


def test_equal_places_draw_equally_and_others_otherwise() -> None:
    assert randomness(1, 2, 3).random(4).tolist() == randomness(1, 2, 3).random(4).tolist()
    places = [(1, 2, 3), (1, 3, 2), (2, 1, 3), (1, 2), (1,), (0, 1)]
    assert len({randomness(*place).random() for place in places}) == len(places)
    drawn = order(1, 0, 100)
    assert sorted(drawn) == list(range(100))
    assert drawn.tolist() == order(1, 0, 100).tolist() != order(1, 1, 100).tolist()


def test_places_of_different_depth_draw_differently() -> None:
    draws = [randomness(*place).integers(2**62) for place in ((1,), (1, 0), (1, 0, 0), (0, 1), (1, 1))]
    assert len(set(draws)) == len(draws)
    assert randomness(1, 0).integers(2**62) == draws[1]
