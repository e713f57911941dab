"""How a loader is asked for an epoch, and which samples its batches hold."""

from __future__ import annotations

import inspect
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader

from clearformer.doctor.forms.arguments import called, roles_of
from clearformer.doctor.forms.trial import UnfitError, first_that_works

MOST_SECONDS = 4.0
RANKS = 2
Key = int | bytes


@dataclass(frozen=True)
class Epoch:
    """`total`: how many samples there are, where the loader tells; `batches`: the samples of each batch in turn."""

    batches: list[list[Key]]
    total: int | None
    drops: bool

    @property
    def order(self) -> list[Key]:
        return [key for batch in self.batches for key in batch]


@dataclass(frozen=True)
class LoaderForm:
    ranked: bool
    told: bool
    """It cannot be asked without a rank."""
    epoch: Callable[[int, int], Epoch]
    """(epoch, rank) → what is read."""


def loader_form(loader: Any) -> LoaderForm:
    """Raises NotApplicable where no form gives batches of samples."""
    named = roles_of(loader, ["epoch", "rank", "ranks"]) if callable(loader) else {}
    ranked = {"rank", "ranks"} <= named.keys()
    told = ranked and named["rank"].default is inspect.Parameter.empty

    def form(given: Callable[[int, int], Any]) -> LoaderForm:
        def read(epoch: int, rank: int) -> Epoch:
            # Every rank's process begins alike, and each epoch goes on from another state.
            random.seed(epoch)
            np.random.seed(epoch)
            torch.manual_seed(epoch)
            return _read(given(epoch, rank))

        if not read(0, 0).batches:
            raise UnfitError("no batch")
        return LoaderForm(ranked, told, read)

    if not callable(loader):
        return first_that_works("loader", [("a loader itself", lambda: form(lambda epoch, rank: loader))])

    def asked(epoch: int, rank: int) -> Any:
        values = {"epoch": epoch, "rank": rank, "ranks": RANKS if ranked else 1}
        return called(loader, values, spare={"batch_size": 4, "split": "train"}, order=("epoch", "rank", "ranks"))

    return first_that_works("loader", [("loader(epoch, rank, ranks)", lambda: form(asked))])


def _read(batches: Iterable[Any]) -> Epoch:
    total = len(batches.dataset) if isinstance(batches, DataLoader) and hasattr(batches.dataset, "__len__") else None
    drops = isinstance(batches, DataLoader) and bool(batches.drop_last)
    begun, found = time.monotonic(), []
    for batch in batches:
        found.append(list(_keys(batch)))
        if time.monotonic() - begun > MOST_SECONDS:
            raise UnfitError(f"an epoch takes more than {MOST_SECONDS:.0f} s")
    return Epoch(found, total, drops)


def _keys(batch: Any) -> Iterator[Key]:
    """A sample's number, or its content where it has none."""
    if isinstance(batch, Mapping):
        batch = next((each for each in batch.values() if isinstance(each, Tensor)), list(batch.values()))
    if isinstance(batch, (int, np.integer)):
        yield int(batch)
    elif isinstance(batch, Tensor):
        for row in batch if batch.ndim else batch[None]:
            whole = row.ndim == 0 and not row.is_floating_point()
            yield int(row) if whole else row.detach().cpu().contiguous().numpy().tobytes()
    elif isinstance(batch, (list, tuple)) and batch and isinstance(batch[0], Tensor) and batch[0].ndim:
        yield from _keys(batch[0])
    elif isinstance(batch, (list, tuple)):
        for each in batch:
            yield from _keys(each)
    elif isinstance(batch, np.ndarray):
        yield from _keys(torch.as_tensor(batch))
    else:
        raise UnfitError(f"{type(batch).__name__} in a batch: neither numbers nor tensors")
