"""A mixture of experts: a router sends each token to a few of many networks (Shazeer et al. 2017, arXiv 1701.06538)."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

import numpy as np
from jaxtyping import Bool, Float

from clearformer.reference.activation import sigmoid
from clearformer.reference.attention import softmax
from clearformer.reference.weights import Weights, linear
from clearformer.spec import Dense, Experts, Gated, RouterGroups, SigmoidRouter, SoftmaxRouter
from clearformer.taps import OFF, Tap

Network = Callable[[Dense | Gated, Weights, np.ndarray], np.ndarray]


def experts(
    spec: Experts, weights: Weights, x: Float[np.ndarray, "B T D"], network: Network, tap: Tap = OFF
) -> Float[np.ndarray, "B T D"]:
    """Σ weight · expert(x) over the chosen experts, and the shared expert that reads every token."""
    routed = tap("router", route(spec, weights.within("router"), x))
    output = np.zeros_like(x)
    for index in range(spec.count):
        tokens = routed[..., index] != 0
        answer = network(spec.expert, weights.within(f"experts.{index}"), x[tokens])
        output[tokens] += routed[tokens, index][:, None] * answer
    if spec.shared is None:
        return output
    shared = network(spec.shared, weights.within("shared"), x)
    return output + (shared * sigmoid(linear(x, weights.within("shared_gate"))) if spec.shared_gate else shared)


def route(spec: Experts, weights: Weights, x: Float[np.ndarray, "... D"]) -> Float[np.ndarray, "... E"]:
    """Each token's weight for each expert, zero for those not chosen."""
    router, logits = spec.router, linear(x, weights)
    match router:
        case SoftmaxRouter(softmax="before"):
            worth = softmax(logits)
            chosen = choose(worth, spec.active, router.groups)
        case SoftmaxRouter():
            chosen = choose(logits, spec.active, router.groups)
            worth = softmax(logits, chosen)
        case SigmoidRouter():
            worth = sigmoid(logits)
            if router.selection_bias:
                chosen = choose(worth + weights["selection_bias"], spec.active, router.groups)
            else:
                # Large logits' sigmoids all round to one; where order alone decides, the logits still have it.
                chosen = choose(logits if router.order_alone else worth, spec.active, router.groups)
        case _:
            assert_never(router)
    worth = np.where(chosen, worth, 0.0)
    return router.scale * (worth / (worth.sum(axis=-1, keepdims=True) + 1e-20) if router.normalise else worth)


def choose(
    score: Float[np.ndarray, "... E"], active: int, groups: RouterGroups | None = None
) -> Bool[np.ndarray, "... E"]:
    """The `active` best experts, within the best groups if there are groups."""
    if groups is None:
        return best(score, active)
    grouped = score.reshape(*score.shape[:-1], groups.count, -1)
    counted = 1 if groups.judged_by == "best" else 2
    kept = best(np.sort(grouped, axis=-1)[..., -counted:].sum(axis=-1), groups.kept)
    return best(np.where(kept[..., None], grouped, -np.inf).reshape(score.shape), active)


def best(score: Float[np.ndarray, "... E"], count: int) -> Bool[np.ndarray, "... E"]:
    """True at the `count` highest scores; of equal ones the first."""
    order = np.argsort(-score, axis=-1, kind="stable")
    chosen = np.zeros(score.shape, dtype=bool)
    np.put_along_axis(chosen, order[..., :count], True, axis=-1)
    return chosen


def balance_loss(
    probability: Float[np.ndarray, "tokens E"], chosen: Bool[np.ndarray, "tokens E"]
) -> Float[np.ndarray, ""]:
    """E · Σ fraction · probability: 1 when all experts are used alike (Switch §2.2, arXiv 2101.03961).

    An expert's fraction is its share of all choices, its probability the router's mean for it.
    """
    fraction = chosen.mean(axis=0) / chosen.mean(axis=0).sum()
    return np.asarray(chosen.shape[-1] * (fraction * probability.mean(axis=0)).sum())
