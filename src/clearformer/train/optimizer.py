"""Which weights are moved how: matrices with decay, all else without; and the state as named tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, assert_never

import torch
from torch import Tensor, nn

from clearformer.layers.positions.learned import Learned
from clearformer.layers.positions.relative import RelativeBias
from clearformer.train.muon import MuonOptimizer
from clearformer.train.recipe import Adam, AdamW, Muon, Optimizer

_TABLES = (nn.Embedding, Learned, RelativeBias)


class Mover:
    """The optimizers of one model, of which Muon needs two, behind one step."""

    def __init__(self, model: nn.Module, choice: Optimizer) -> None:
        self.names: dict[Tensor, str] = {weight: name for name, weight in model.named_parameters()}
        self.optimizers = list(_optimizers(model, choice))
        self.rates = [[group["lr"] for group in each.param_groups] for each in self.optimizers]

    @property
    def rate(self) -> float:
        """The first group's rate before any factor, by which a run's rate is told."""
        first: float = self.rates[0][0]
        return first

    def step(self, factor: float) -> None:
        """Move the weights, with each rate times `factor`."""
        for optimizer, rates in zip(self.optimizers, self.rates, strict=True):
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * factor
            optimizer.step()

    def rest(self) -> None:
        """Forget the gradients."""
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=True)

    def forget(self) -> None:
        """Drop the moments, as if no step had been made."""
        for optimizer in self.optimizers:
            optimizer.state.clear()

    def tensors(self) -> dict[str, Tensor]:
        """The state, each tensor named `weight's name/its key`."""
        return {
            f"{self.names[weight]}/{key}": value
            for optimizer in self.optimizers
            for weight, state in optimizer.state.items()
            for key, value in state.items()
        }

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Take up a state that `tensors` gave."""
        weights = {name: weight for weight, name in self.names.items()}
        self.forget()
        for optimizer in self.optimizers:
            mine = {weight for group in optimizer.param_groups for weight in group["params"]}
            for key, value in tensors.items():
                name, _, part = key.rpartition("/")
                if weights[name] in mine:
                    # A copy of its own: mapped files are aligned differently, and sums may then round differently.
                    optimizer.state[weights[name]][part] = value.clone()


def matrices(model: nn.Module) -> Iterator[tuple[str, nn.Parameter]]:
    """The weights that multiply activations: no table, norm, bias or class token among them."""
    for owner_name, owner in model.named_modules():
        if not isinstance(owner, _TABLES):
            for name, weight in owner.named_parameters(owner_name, recurse=False):
                if weight.ndim > 1 and not name.endswith("class_token"):
                    yield name, weight


def _optimizers(model: nn.Module, choice: Optimizer) -> Iterator[torch.optim.Optimizer]:
    weights = list(model.parameters())
    decayed = [weight for _, weight in matrices(model)]
    match choice:
        case Adam():
            yield torch.optim.Adam(weights, choice.lr, (choice.beta1, choice.beta2), choice.eps, fused=_fused(weights))
        case AdamW():
            yield _adamw(choice, decayed, weights)
        case Muon():
            blocks = [weight for name, weight in matrices(model) if ".blocks." in f".{name}"]
            rest = [weight for weight in weights if weight not in set(blocks)]
            yield MuonOptimizer(blocks, choice)
            yield _adamw(choice.adamw, [weight for weight in decayed if weight not in set(blocks)], rest)
        case _:
            assert_never(choice)


def _adamw(choice: AdamW, decayed: list[nn.Parameter], weights: list[nn.Parameter]) -> torch.optim.AdamW:
    """Over all of `weights`, those in `decayed` with decay."""
    with_decay = set(decayed)
    plain = [weight for weight in weights if weight not in with_decay]
    groups: list[dict[str, Any]] = [
        {"params": decayed, "weight_decay": choice.weight_decay},
        {"params": plain, "weight_decay": 0.0},
    ]
    filled = [group for group in groups if group["params"]]
    return torch.optim.AdamW(filled, choice.lr, (choice.beta1, choice.beta2), choice.eps, fused=_fused(weights))


def _fused(weights: list[nn.Parameter]) -> bool:
    """One kernel a weight instead of a dozen, where torch has it."""
    return all(weight.device.type in ("cpu", "cuda", "mps") and weight.is_floating_point() for weight in weights)
