"""A mixture of experts: a router sends each token to a few feed-forward networks.

Shazeer et al. 2017 (arXiv 1701.06538).
"""

from __future__ import annotations

from typing import assert_never

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from clearformer.layers.feedforward import Dense, Gated
from clearformer.layers.frame import Frame
from clearformer.layers.norm import at_least_float32
from clearformer.spec import Dense as DenseSpec
from clearformer.spec import Experts as ExpertsSpec
from clearformer.spec import Gated as GatedSpec
from clearformer.spec import Router as RouterSpec
from clearformer.spec import RouterGroups, SigmoidRouter, SoftmaxRouter
from clearformer.taps import OFF, Tap

Logits = Float[Tensor, "N E"]


def route(
    logits: Logits, spec: RouterSpec, active: int, selection_bias: Float[Tensor, " E"] | None = None
) -> tuple[Float[Tensor, "N active"], Int[Tensor, "N active"], Logits]:
    """The chosen experts' weights, their indices, and the probabilities over all (for the balance loss)."""
    match spec:
        case SoftmaxRouter(softmax="before"):
            probabilities = logits.softmax(-1)
            chosen = choose(probabilities, active, spec.groups)
            weights = probabilities.gather(-1, chosen)
        case SoftmaxRouter():
            probabilities = logits.softmax(-1)
            chosen = choose(logits, active, spec.groups)
            weights = logits.gather(-1, chosen).softmax(-1)
        case SigmoidRouter():
            probabilities = logits.sigmoid()
            if selection_bias is not None:
                chosen = choose(probabilities + selection_bias, active, spec.groups)
            else:
                # From logit 17 on float32 rounds a sigmoid to one; where order alone decides, the logits still have it.
                chosen = choose(logits if spec.order_alone else probabilities, active, spec.groups)
            weights = probabilities.gather(-1, chosen)
        case _:
            assert_never(spec)
    if spec.normalise:
        # Sigmoids far below zero may all round to 0; DeepSeek's own guard.
        weights = weights / (weights.sum(-1, keepdim=True) + 1e-20)
    return weights * spec.scale, chosen, probabilities


def choose(preference: Logits, active: int, groups: RouterGroups | None) -> Int[Tensor, "N active"]:
    """The `active` most preferred experts, of the best groups only."""
    if groups is not None:
        by_group = preference.unflatten(-1, (groups.count, -1))
        best = by_group.topk(1 if groups.judged_by == "best" else 2, -1).values.sum(-1)
        kept = torch.zeros_like(best, dtype=torch.bool).scatter(-1, best.topk(groups.kept, -1).indices, True)
        preference = by_group.masked_fill(~kept[..., None], -torch.inf).flatten(-2)
    return preference.topk(active, -1).indices


def balance(probabilities: Logits, chosen: Int[Tensor, "N active"]) -> Float[Tensor, ""]:
    """E · Σ fraction of choices · mean probability: 1 when even (Fedus et al. 2021 §2.2, arXiv 2101.03961)."""
    experts = probabilities.shape[-1]
    fraction = torch.bincount(chosen.flatten(), minlength=experts).to(probabilities.dtype) / chosen.numel()
    share = probabilities / probabilities.sum(-1, keepdim=True)
    return experts * (fraction * share.mean(0)).sum()


class Router(nn.Linear):
    """A score for each expert, in float32; `selection_bias` sways the choice and not the weights."""

    def __init__(self, width: int, spec: ExpertsSpec) -> None:
        super().__init__(width, spec.count, bias=False)
        biased = isinstance(spec.router, SigmoidRouter) and spec.router.selection_bias
        self.selection_bias = nn.Parameter(torch.zeros(spec.count)) if biased else None

    def forward(self, tokens: Float[Tensor, "N D"]) -> Logits:
        return at_least_float32(super().forward(tokens))


class Experts(nn.Module):
    """Routed experts, and perhaps a shared one that reads every token."""

    def __init__(self, width: int, spec: ExpertsSpec) -> None:
        super().__init__()
        self.spec = spec
        self.router = Router(width, spec)
        self.experts = nn.ModuleList(make_expert(width, spec.expert) for _ in range(spec.count))
        self.shared = make_expert(width, spec.shared) if spec.shared else None
        self.shared_gate = nn.Linear(width, 1, bias=False) if spec.shared_gate else None

    def forward(self, x: Float[Tensor, "B T D"], frame: Frame, tap: Tap = OFF) -> Float[Tensor, "B T D"]:
        tokens = x.flatten(0, -2)
        logits = self.router(tokens)
        weights, chosen, probabilities = route(logits, self.spec.router, self.spec.active, self.router.selection_bias)
        if tap.hears("router"):
            spread = torch.zeros_like(logits).scatter(-1, chosen, weights)
            edited = tap("router", spread.unflatten(0, x.shape[:-1])).flatten(0, -2)
            weights = edited.gather(-1, chosen)
        self._note_balance(probabilities, chosen, frame)
        mixed = self._mix(tokens, weights.to(x.dtype), chosen, frame).view_as(x)
        if self.shared is not None:
            share = self.shared(x, frame)
            mixed = mixed + (share * torch.sigmoid(self.shared_gate(x)) if self.shared_gate is not None else share)
        return tap("output", mixed)

    def _mix(
        self,
        tokens: Float[Tensor, "N D"],
        weights: Float[Tensor, "N active"],
        chosen: Int[Tensor, "N active"],
        frame: Frame,
    ) -> Float[Tensor, "N D"]:
        """Each expert reads the tokens that chose it; compiled code has no ragged shapes, so there each reads all."""
        mixed = torch.zeros_like(tokens)
        if torch.compiler.is_compiling():
            for index, expert in enumerate(self.experts):
                share = (weights * (chosen == index)).sum(-1, keepdim=True)
                mixed = mixed + expert(tokens, frame) * share
            return mixed
        for index, expert in enumerate(self.experts):
            token, rank = torch.where(chosen == index)
            if token.numel():
                mixed = mixed.index_add(0, token, expert(tokens[token], frame) * weights[token, rank, None])
        return mixed

    def _note_balance(self, probabilities: Logits, chosen: Int[Tensor, "N active"], frame: Frame) -> None:
        if frame.losses is None or not self.spec.balance_loss:
            return
        if frame.query_real is not None:
            real = frame.query_real.flatten()
            probabilities, chosen = probabilities[real], chosen[real]
        frame.losses.append(self.spec.balance_loss * balance(probabilities, chosen))


def make_expert(width: int, spec: DenseSpec | GatedSpec) -> Dense | Gated:
    """One feed-forward network."""
    return Dense(width, spec) if isinstance(spec, DenseSpec) else Gated(width, spec)
