"""Our side of the training bench: the spec, the loss and the measured choices that `clearformer train` uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

import torch
from torch import Tensor

from clearformer.bench.training import Trainee
from clearformer.bench.training_peers import Shape
from clearformer.build import build
from clearformer.loss import chunked_cross_entropy
from clearformer.messages import Message
from clearformer.model import DecoderOnly
from clearformer.spec.presets import tiny_gpt
from clearformer.speed.switch import switched
from clearformer.speed.training import apply, choose
from clearformer.store.places import home
from clearformer.train.apart import untouched_randomness
from clearformer.train.recipe import Compute

# A bench stands for a long run: compiling is tried, and its time is not counted, as for the peers.
_LONG = 100_000


@contextmanager
def our_trainee(
    shape: Shape,
    dtype: Literal["float32", "bfloat16"],
    *,
    compiled: bool,
    note: Callable[[Message, dict[str, Any]], None],
) -> Iterator[Trainee]:
    """GPT-2's design, as `clearformer train language` has it by default; kernel and switch by measurement."""
    generator = torch.Generator().manual_seed(0)
    spec = tiny_gpt(
        width=shape.width,
        heads=shape.heads,
        layers=shape.layers,
        vocabulary=shape.vocabulary,
        context=shape.context,
    )
    model = build(spec, generator=generator)
    assert isinstance(model, DecoderOnly)
    ids = torch.randint(shape.vocabulary, (shape.batch, shape.context + 1), generator=generator)

    def loss(inputs: Tensor, targets: Tensor) -> Tensor:
        assert isinstance(model, DecoderOnly)
        found = chunked_cross_entropy(model.hidden(inputs), model.logits, targets)
        return found.total / found.units

    def step() -> None:
        with untouched_randomness():
            loss(ids[:, :-1], ids[:, 1:]).backward()
        for weight in model.parameters():
            weight.grad = None

    wanted = Compute(dtype=dtype, compile="yes" if compiled else "no")
    choices = choose(model, wanted, step, steps=_LONG, folder=home(), note=note)
    # The switch is the whole process's: it is turned for our own updates alone, and the peers keep torch's default.
    with apply(model, replace(choices, switch=False)):
        yield Trainee("clearformer", model, loss, lambda: switched(choices.switch))
