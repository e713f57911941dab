"""Planted faults: each is caught, by the law that speaks of it; and every law can break."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

from clearformer.lab.demos import (
    DEMOS,
    FAULTS,
    Fault,
    by_hand,
    causality,
    counting,
    heads,
    layers,
    order,
    scale,
)
from clearformer.lab.demos.parts import attention_over_queries, attention_with_zero_fill, parts
from clearformer.messages import lab, lab_model
from clearformer.messages.lab import Law
from clearformer.reference.attention import scaled_dot_product_attention, softmax
from clearformer.reference.initial import shapes
from clearformer.reference.mask import causal
from clearformer.reference.model import run

CATCHERS: dict[Fault, dict[int, str]] = {
    "no-scale": {1: "Q Kᵀ / √d_k", 3: "deviate by 1", 6: "library's layer"},
    "zero-fill": {2: "Above the diagonal"},
    "softmax-axis-0": {1: "sums to 1", 2: "sums to 1", 3: "larger gradient", 6: "library's layer"},
    "no-positions": {4: "With positions"},
}


@pytest.mark.parametrize("fault", get_args(Fault))
def test_each_fault_is_caught_and_explained(fault: Fault) -> None:
    outcomes = {n: demo.run(fault) for n, demo in DEMOS.items()}
    caught = {n: outcome.caught for n, outcome in outcomes.items() if outcome.caught is not None}
    assert set(caught) == set(CATCHERS[fault])
    for n, catch in caught.items():
        assert CATCHERS[fault][n] in catch.law
        assert catch.expected != catch.found
        assert outcomes[n].lines[-3:] == (
            f"  ✗ {catch.law}",
            f"    expected {catch.expected}; found {catch.found}",
            f"    {catch.why}",
        )
        assert not outcomes[n].passed
        assert fault in outcomes[n].lines[1]
    assert all(outcomes[n].passed for n in set(DEMOS) - set(caught))


def test_a_fault_stays_in_its_own_run() -> None:
    assert not DEMOS[2].run("zero-fill").passed
    assert DEMOS[2].run().passed
    assert set(FAULTS) == set(get_args(Fault))


def test_faulty_attentions_differ_in_their_fault_alone() -> None:
    query, key, value = np.random.default_rng(0).standard_normal((3, 2, 4, 8))
    seen = causal(4)
    sound, weights = scaled_dot_product_attention(query, key, value)
    np.testing.assert_allclose(attention_with_zero_fill(query, key, value)[0], sound, atol=1e-12)
    _, zeroed = attention_with_zero_fill(query, key, value, seen)
    scores = np.exp(query @ key.swapaxes(-1, -2) / math.sqrt(8))
    first = scores[:, 0, 0] / (scores[:, 0, 0] + 3)  # e⁰ for each of three hidden keys
    np.testing.assert_allclose(zeroed[:, 0, 0], first, atol=1e-12)
    _, columns = attention_over_queries(query, key, value)
    np.testing.assert_allclose(columns.sum(axis=-2), 1.0, atol=1e-12)
    _, unscaled = parts("no-scale").attend(query * 8**-0.5, key, value)
    np.testing.assert_allclose(unscaled, weights, atol=1e-12)
    assert not parts("no-positions").positions(3, 8).any()


def transposeless(x: np.ndarray, count: int) -> np.ndarray:
    """The classic mistake: T H·K seen as H T K without moving an axis."""
    return x.reshape(*x.shape[:-2], count, x.shape[-2], -1)


def swapped(split: np.ndarray) -> np.ndarray:
    heads_last = np.swapaxes(split[::-1], -2, -3)
    return heads_last.reshape(*heads_last.shape[:-2], -1)


def every_row(spec: Any, weights: Any, inputs: np.ndarray, **rest: Any) -> np.ndarray:
    return run(spec, weights, inputs, **rest) + np.arange(len(inputs))[:, None, None]


def one_row(spec: Any, weights: Any, inputs: np.ndarray, **rest: Any) -> np.ndarray:
    return np.repeat(run(spec, weights, inputs[:1], **rest), len(inputs), axis=0)


def without_one(spec: Any) -> dict[str, tuple[int, ...]]:
    table = shapes(spec)
    return {name: shape for name, shape in table.items() if name != "decoder.blocks.5.cross_norm.bias"}


def with_one_more(spec: Any) -> dict[str, tuple[int, ...]]:
    return shapes(spec) | {"decoder.surplus": (1,)}


BREAKS: list[tuple[int, object, str, Any, Law]] = [
    (1, by_hand, "VALUE", by_hand.VALUE + 1e-4, lab.HAND_FIGURES_LAW),
    (2, causality, "plain_softmax", softmax, lab.HALF_LAW),
    (3, scale, "spread", lambda sample: (float(sample.std()), 0.0), lab.RAW_LAW),
    (4, order, "run", every_row, lab.ONE_LAYER_LAW),
    (4, order, "run", one_row, lab.TWO_LAYERS_LAW),
    (5, heads, "split_heads", transposeless, lab_model.COLUMNS_LAW),
    (5, heads, "merge_heads", swapped, lab_model.INVERSE_LAW),
    (6, layers, "layer_norm", lambda x, eps=1e-5: x - x.mean(-1, keepdims=True), lab_model.NORM_LAW),
    (6, layers, "split_heads", transposeless, lab_model.SAME_LAYER_LAW),
    (7, counting, "shapes", without_one, lab_model.COUNT_FIGURE_LAW),
    (7, counting, "shapes", with_one_more, lab_model.WHOLE_LAW),
]


@pytest.mark.parametrize(("n", "chapter", "name", "wrong", "law"), BREAKS)
def test_a_wrong_library_is_caught(
    n: int, chapter: object, name: str, wrong: Any, law: Law, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chapter, name, wrong)
    outcome = DEMOS[n].run()
    assert outcome.caught is not None
    assert outcome.caught.why.startswith(law.broken.en.split("{")[0])


def test_a_blind_row_that_reads_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def uniform(query: Any, key: Any, value: Any, visible: Any = None, **rest: Any) -> Any:
        """Attends soundly, but shares a blind row out evenly."""
        weights = scaled_dot_product_attention(query, key, value, visible, **rest)[1]
        weights = np.where(weights.any(-1, keepdims=True), weights, 1 / weights.shape[-1])
        return weights @ value, weights

    demo = replace(DEMOS[2], steps=lambda page, sound: causality.demonstrate(page, replace(sound, attend=uniform)))
    outcome = demo.run()
    assert outcome.caught is not None
    assert outcome.caught.law == lab.BLIND_LAW.statement.en
