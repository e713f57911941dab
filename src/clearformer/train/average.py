"""Weights averaged over time, which are evaluated and published in place of the last ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Protocol

import torch
from torch import Tensor, nn

from clearformer.train.recipe import EMA, Average, Checkpoints

Weights = dict[str, Tensor]


class Averaging(Protocol):
    """What an average is told of, and its state as named tensors."""

    def stepped(self, model: nn.Module, step: int) -> None:
        """After each update."""

    def weights(self, model: nn.Module) -> Weights:
        """The average as of now."""

    def evaluated(self, model: nn.Module) -> None:
        """After each evaluation."""

    def tensors(self) -> Weights: ...

    def restore(self, tensors: Mapping[str, Tensor]) -> None: ...


def make_average(choice: Average | None, model: nn.Module) -> Averaging:
    match choice:
        case None:
            return Last()
        case EMA():
            return Exponential(choice, model)
        case Checkpoints():
            return Mean(choice)


class Last:
    """No average."""

    def stepped(self, model: nn.Module, step: int) -> None:
        pass

    def weights(self, model: nn.Module) -> Weights:
        return copied(model)

    def evaluated(self, model: nn.Module) -> None:
        pass

    def tensors(self) -> Weights:
        return {}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        assert not tensors


class Exponential:
    """average ← decay · average + (1 − decay) · weights."""

    def __init__(self, choice: EMA, model: nn.Module) -> None:
        self.decay = choice.decay
        self.average = copied(model)

    @torch.no_grad()
    def stepped(self, model: nn.Module, step: int) -> None:
        decay = min(self.decay, (1 + step) / (10 + step))
        for name, weight in model.named_parameters():
            self.average[name].lerp_(weight, 1 - decay)

    def weights(self, model: nn.Module) -> Weights:
        return {name: tensor.clone() for name, tensor in self.average.items()}

    def evaluated(self, model: nn.Module) -> None:
        pass

    def tensors(self) -> Weights:
        return self.average

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        for name, tensor in tensors.items():
            self.average[name].copy_(tensor)


class Mean:
    """The mean of the weights now and at the evaluations before, `count` in all."""

    def __init__(self, choice: Checkpoints) -> None:
        self.kept: deque[Weights] = deque(maxlen=choice.count - 1)

    def stepped(self, model: nn.Module, step: int) -> None:
        pass

    def weights(self, model: nn.Module) -> Weights:
        kept = [*self.kept, copied(model)]
        return {name: torch.stack([one[name] for one in kept]).mean(0) for name in kept[0]}

    def evaluated(self, model: nn.Module) -> None:
        self.kept.append(copied(model))

    def tensors(self) -> Weights:
        return {f"{index}/{name}": tensor for index, one in enumerate(self.kept) for name, tensor in one.items()}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        kept: dict[int, Weights] = {}
        for key, tensor in tensors.items():
            index, _, name = key.partition("/")
            kept.setdefault(int(index), {})[name] = tensor.clone()
        self.kept.extend(kept[index] for index in sorted(kept))


def copied(model: nn.Module) -> Weights:
    """The weights as they are now, shared ones once."""
    return {name: weight.detach().clone() for name, weight in model.named_parameters()}


@torch.no_grad()
def put(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copy weights into the model, in place."""
    for name, weight in model.named_parameters():
        weight.copy_(weights[name])
