"""What a decoder loses with each of its heads, and with more and more of them (Michel et al. 2019, 1905.10650)."""

from __future__ import annotations

import random
from collections.abc import Collection
from typing import Any, Literal

import torch
from jaxtyping import Int
from torch import Tensor

from clearformer.lab.experiment import Curve, Figure, Outcome
from clearformer.loss import mean_loss, shift
from clearformer.messages import lab_looking as say
from clearformer.model import DecoderOnly, Model
from clearformer.spec import main_stack
from clearformer.taps import Listening
from clearformer.tasks.language import LanguageTask
from clearformer.train.task import Task

Order = Literal["least", "chance", "most"]
"""Which head goes first: the one least missed, any, or the one most missed."""
Head = tuple[int, int]
"""(block, head)"""

HALF = Figure("half", say.HALF_PRUNED)
WHOLE = Figure("whole", say.NONE_PRUNED)
PRUNED = Curve("pruned", say.HEADS_REMOVED, say.LOSS_OF_PRUNED)
_TEXTS = 24


@torch.no_grad()
def pruned(task: Task[Any], model: Model, order: Order) -> Outcome:
    """The loss with more and more heads removed. A head's importance is what the loss rises by without it alone, on
    other texts than those on which the curve is measured."""
    assert isinstance(model, DecoderOnly)
    assert isinstance(task, LanguageTask)
    context = task.recipe.data.context
    texts = torch.from_numpy(task.corpus.excerpts("validation", 2 * _TEXTS, context))
    judged, measured = texts[::2], texts[1::2]
    importance = {head: loss_without(model, judged, {head}) for head in heads_of(model)}
    ranked = sorted(importance, key=importance.__getitem__, reverse=order == "most")
    if order == "chance":
        random.Random(task.recipe.seed).shuffle(ranked)
    losses = [loss_without(model, measured, ranked[:count]) for count in range(len(ranked) + 1)]
    figures = {HALF.name: losses[len(ranked) // 2], WHOLE.name: losses[0]}
    return Outcome(figures, {PRUNED.name: (list(map(float, range(len(losses)))), losses)})


def heads_of(model: DecoderOnly) -> list[Head]:
    """Every head of a decoder, first block first."""
    blocks = main_stack(model.spec).blocks
    return [(block, head) for block, each in enumerate(blocks) for head in range(each.attention.heads)]


@torch.no_grad()
def loss_without(model: DecoderOnly, ids: Int[Tensor, "B T"], heads: Collection[Head]) -> float:
    """Nats a token where these heads give nothing."""

    def silence(name: str, value: Tensor) -> Tensor:
        block = int(name.split(".blocks.")[1].split(".")[0])
        value = value.clone()
        value[:, [head for at, head in heads if at == block]] = 0
        return value

    inputs, targets = shift(ids)
    return mean_loss(model(inputs, tap=Listening(silence, patterns=("**.attention.heads",))), targets)
