"""The mixture of experts, token by token and expert by expert."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from clearformer.reference.experts import balance_loss, route
from clearformer.reference.feedforward import feedforward, network
from clearformer.reference.weight_table import feedforward as names
from clearformer.reference.weights import Weights
from clearformer.spec import Dense, Experts, Gated, RouterGroups, SigmoidRouter, SoftmaxRouter

ROUTERS = {
    "before": SoftmaxRouter("before"),
    "before-normalised": SoftmaxRouter("before", normalise=True, scale=1.5),
    "after": SoftmaxRouter("after"),
    "before-groups": SoftmaxRouter("before", groups=RouterGroups(4, 2)),
    "after-groups": SoftmaxRouter("after", groups=RouterGroups(2, 1)),
    "sigmoid": SigmoidRouter(selection_bias=False, normalise=False),
    "sigmoid-groups": SigmoidRouter(scale=2.5, groups=RouterGroups(4, 2, "best_two")),
}


def _exp_share(values: dict[int, float]) -> dict[int, float]:
    total = sum(np.exp(value) for value in values.values())
    return {key: np.exp(value) / total for key, value in values.items()}


def _weights_of_one_token(spec: Experts, logits: np.ndarray, bias: np.ndarray) -> dict[int, float]:
    """The chosen set is the one of highest total score among all sets that the groups allow."""
    router, numbers = spec.router, dict(enumerate(logits.tolist()))
    if isinstance(router, SigmoidRouter):
        worth = {e: 1 / (1 + np.exp(-x)) for e, x in numbers.items()}
        score = {e: worth[e] + (bias[e] if router.selection_bias else 0.0) for e in worth}
    else:
        worth = _exp_share(numbers)
        score = worth if router.softmax == "before" else numbers
    allowed = set(score)
    if router.groups is not None:
        size = spec.count // router.groups.count
        members = [list(range(g * size, (g + 1) * size)) for g in range(router.groups.count)]
        top = 1 if router.groups.judged_by == "best" else 2
        merit = [sum(sorted((score[e] for e in group), reverse=True)[:top]) for group in members]
        kept = max(
            itertools.combinations(range(len(members)), router.groups.kept), key=lambda s: sum(merit[g] for g in s)
        )
        allowed = {e for g in kept for e in members[g]}
    chosen = max(itertools.combinations(sorted(allowed), spec.active), key=lambda s: sum(score[e] for e in s))
    if isinstance(router, SoftmaxRouter) and router.softmax == "after":
        worth = _exp_share({e: numbers[e] for e in chosen})
    total = sum(worth[e] for e in chosen) if router.normalise else 1.0
    return {e: router.scale * worth[e] / total for e in chosen}


@pytest.mark.parametrize("shared", [None, Dense(5)], ids=["alone", "shared"])
@pytest.mark.parametrize("name", ROUTERS)
def test_experts_by_brute_force(name: str, shared: Dense | None, rng) -> None:
    spec = Experts(8, 2, Gated(5), ROUTERS[name], shared=shared, shared_gate=shared is not None)
    table = {weight.name: rng.standard_normal(weight.shape) for weight in names(spec, 6)}
    weights, x = Weights(table), rng.standard_normal((2, 7, 6))
    output, routed = feedforward(spec, weights, x), route(spec, weights.within("router"), x)
    bias = table.get("router.selection_bias", np.zeros(8))
    for b, t in np.ndindex(2, 7):
        token = x[b, t]
        mixed = _weights_of_one_token(spec, table["router.weight"] @ token, bias)
        assert np.flatnonzero(routed[b, t]).tolist() == sorted(mixed)
        expected = sum(w * network(spec.expert, weights.within(f"experts.{e}"), token) for e, w in mixed.items())
        if shared is not None:
            gate = 1 / (1 + np.exp(-(table["shared_gate.weight"] @ token)))
            expected = expected + gate * network(shared, weights.within("shared"), token)
        np.testing.assert_allclose(output[b, t], expected, atol=1e-12)


def test_balance_is_one_when_even_and_grows_with_favour() -> None:
    even, chosen = np.full((8, 4), 0.25), np.eye(4, dtype=bool)[np.arange(8) % 4]
    assert balance_loss(even, chosen) == pytest.approx(1.0)
    favoured = np.zeros((8, 4), dtype=bool)
    favoured[:, 0] = True
    certain = np.tile([0.7, 0.1, 0.1, 0.1], (8, 1))
    assert balance_loss(certain, favoured) == pytest.approx(4 * 0.7)
