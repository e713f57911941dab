"""A look at the weights during training that training does not notice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import torch
from torch import Tensor, nn

from clearformer.model import Model
from clearformer.speed.training import Choices, apply
from clearformer.train.average import put


@contextmanager
def untouched_randomness() -> Iterator[None]:
    """What the body draws, training draws again: every generator is put back."""
    with torch.random.fork_rng(devices=list(range(torch.cuda.device_count()))):
        yield


@contextmanager
def looked_at(twin: Model, weights: Mapping[str, Tensor], choices: Choices) -> Iterator[None]:
    """`twin`, a copy of the model that is in training, with these weights and in evaluation mode.

    It computes in float32 whatever training does, so that a figure does not depend on how it was trained.
    """
    put(twin, weights)
    exact = replace(choices, dtype="float32", compile=False, recompute=False)
    with untouched_randomness(), torch.no_grad(), apply(twin.eval(), exact):
        yield


def trial_pass(model: nn.Module, loss: Callable[[], Tensor]) -> None:
    """A forward and backward pass that leaves nothing behind: no gradients, and no random numbers drawn."""
    with untouched_randomness():
        loss().backward()
    model.zero_grad(set_to_none=True)
