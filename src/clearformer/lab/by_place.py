"""The loss by a token's place in its window, past the trained length too."""

from __future__ import annotations

from typing import Any

import torch

from clearformer.lab.experiment import Curve, Figure, Outcome
from clearformer.messages import lab_machine as say
from clearformer.model import DecoderOnly, Model
from clearformer.spec import Learned
from clearformer.tasks.language import LanguageTask
from clearformer.train.task import Task

BEYOND = Figure("loss_beyond", say.LOSS_BEYOND)
BY_PLACE = Curve("loss_by_place", say.PLACE, say.LOSS)
_WINDOWS, _EACH, _GROUP = 64, 8, 16


def loss_by_place(task: Task[Any], model: Model, *, trained: int, read: int) -> Outcome:
    """Mean loss (nats) over groups of sixteen places, up to `read` or as far as a table of positions reaches.

    `loss_beyond` is that of the second half of what was read; absent where the model cannot read so far.
    """
    assert isinstance(task, LanguageTask)
    assert isinstance(model, DecoderOnly)
    position = model.stack.spec.input.position
    length = min(read, position.length) if isinstance(position, Learned) else read
    texts = torch.from_numpy(task.corpus.excerpts("validation", _WINDOWS, length + 1))
    sums = torch.zeros(length)
    for some in texts.split(_EACH):
        logits = model.logits(model.hidden(some[:, :-1])).float()
        losses = torch.nn.functional.cross_entropy(logits.transpose(1, 2), some[:, 1:], reduction="none")
        sums += losses.sum(0)
    means = (sums / len(texts)).unflatten(0, (-1, _GROUP)).mean(1)
    places = [_GROUP * (group + 0.5) for group in range(len(means))]
    found = Outcome({}, {BY_PLACE.name: (places, means.tolist())})
    if length <= trained:
        return found
    beyond = float(sums[length // 2 :].mean() / len(texts))
    return Outcome({BEYOND.name: beyond}, found.curves)
