"""BatchNorm in the place of each LayerNorm, put into a model from outside (Ioffe and Szegedy 2015, 1502.03167)."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from clearformer.lab.experiment import Figure, Outcome
from clearformer.layers.norm import LayerNorm
from clearformer.loss import mean_loss, shift
from clearformer.messages import lab_sublayers as say
from clearformer.model import DecoderOnly, Model
from clearformer.train.task import Task

GAP = Figure("training_gap", say.TRAINING_GAP)
DEPENDENCE = Figure("batch_dependence", say.BATCH_DEPENDENCE, form=".2g")
_KEPT = 0.9


class BatchNorm(nn.Module):
    """(x − mean) / √(variance + eps) · weight + bias, each feature's mean and variance taken over the batch's tokens in
    training and kept, as a moving average, for use."""

    def __init__(self, like: LayerNorm) -> None:
        super().__init__()
        assert like.weight is not None
        assert like.bias is not None
        self.eps, self.weight, self.bias = like.eps, like.weight, like.bias
        # Parameters that are told and not learnt: a state and an average of the weights then take them along.
        self.mean = nn.Parameter(torch.zeros_like(like.bias), requires_grad=False)
        self.variance = nn.Parameter(torch.ones_like(like.bias), requires_grad=False)

    def forward(self, x: Float[Tensor, "*any D"]) -> Float[Tensor, "*any D"]:
        if self.training:
            tokens = x.flatten(0, -2)
            variance, mean = torch.var_mean(tokens, 0, correction=0)
            with torch.no_grad():
                self.mean.lerp_(mean, 1 - _KEPT)
                self.variance.lerp_(variance, 1 - _KEPT)
        else:
            mean, variance = self.mean, self.variance
        return (x - mean) * torch.rsqrt(variance + self.eps) * self.weight + self.bias


def batch_norms(model: Model) -> None:
    """Every LayerNorm becomes a BatchNorm with the same weights."""
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, LayerNorm):
                setattr(parent, name, BatchNorm(child))


@torch.no_grad()
def training_against_use(task: Task[Any], model: Model) -> Outcome:
    """How much higher the loss is in use than in training mode, on the first training batch, and how far the first
    row's logits move, in training mode, when the other rows are others, in units of their deviation."""
    assert isinstance(model, DecoderOnly)
    (one, targets), (other, _) = (shift(task.training().batch(0, number).ids) for number in (0, 1))
    kept = [parameter.clone() for parameter in model.parameters()]
    in_use = mean_loss(model(one), targets)
    model.train()
    alone, beside = model(one), model(torch.cat([one[:1], other[1:]]))
    model.eval()
    for parameter, value in zip(model.parameters(), kept, strict=True):
        parameter.copy_(value)
    moved = float((alone[0] - beside[0]).abs().mean() / alone[0].std())
    return Outcome({GAP.name: in_use - mean_loss(alone, targets), DEPENDENCE.name: moved})
