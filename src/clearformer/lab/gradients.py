"""How large the gradient is in each block, on one batch: whether depth lets it through."""

from __future__ import annotations

from typing import Any

import torch

from clearformer.lab.experiment import Curve, Figure, Outcome
from clearformer.layers.stack import Stack
from clearformer.messages import lab_machine as say
from clearformer.model import Model
from clearformer.train.task import Task

FIRST_OVER_LAST = Figure("first_over_last", say.FIRST_OVER_LAST, higher_is_better=True, form=".3g")
BY_BLOCK = Curve("gradient_by_block", say.BLOCK, say.GRADIENT_NORM, log_y=True)


def gradients_by_block(task: Task[Any], model: Model) -> Outcome:
    """The norm of the loss's gradient over each block's weights, on the first training batch, the stacks one after the
    other; as a figure, the first block's over the last one's. The model keeps no gradient."""
    batch = task.training().batch(0, 0)
    with torch.enable_grad():
        (task.loss(model, batch).total / task.units(batch)).backward()
    blocks = [block for module in model.modules() if isinstance(module, Stack) for block in module.blocks]
    norms = [_norm(block) for block in blocks]
    model.zero_grad(set_to_none=True)
    figures = {FIRST_OVER_LAST.name: norms[0] / norms[-1]} if norms[-1] else {FIRST_OVER_LAST.name: float("nan")}
    return Outcome(figures, {BY_BLOCK.name: (list(map(float, range(len(norms)))), norms)})


def _norm(block: torch.nn.Module) -> float:
    return float(torch.nn.utils.get_total_norm([each.grad for each in block.parameters() if each.grad is not None]))
