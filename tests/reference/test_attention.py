"""Attention by hand, by loops, and where nothing may be seen."""

from __future__ import annotations

import numpy as np
import pytest

from clearformer.reference.attention import merge_heads, scaled_dot_product_attention, softmax, split_heads
from clearformer.reference.frame import Frame
from clearformer.reference.mask import causal, visible
from clearformer.reference.model import run
from clearformer.spec import Causal, Full
from clearformer.taps import record


def test_three_tokens_by_hand() -> None:
    """The first source document's example: Q = K = V = [[1,0],[0,1],[1,1]] scaled by 1/√2."""
    x = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    output, weights = scaled_dot_product_attention(x, x, x)
    e, r = np.exp, 1 / np.sqrt(2)
    row = np.array([e(r), 1.0, e(r)])
    np.testing.assert_allclose(weights[0], row / row.sum())
    np.testing.assert_allclose(weights[0].round(4), [0.4011, 0.1978, 0.4011])
    np.testing.assert_allclose(output, weights @ x)


def test_leading_dimensions_are_free(rng) -> None:
    query, key, value = (
        rng.standard_normal((2, 3, 5, 4)),
        rng.standard_normal((2, 3, 6, 4)),
        rng.standard_normal((2, 3, 6, 7)),
    )
    batched, _ = scaled_dot_product_attention(query, key, value)
    for b, h in np.ndindex(2, 3):
        alone, _ = scaled_dot_product_attention(query[b, h], key[b, h], value[b, h])
        np.testing.assert_allclose(batched[b, h], alone)


def test_scale_cap_and_bias_come_in_that_order(rng) -> None:
    query, key = rng.standard_normal((2, 4, 8))
    bias = rng.standard_normal((4, 4))
    _, weights = scaled_dot_product_attention(query, key, key, bias=bias, scale=0.7, cap=1.5)
    scores = 1.5 * np.tanh(0.7 * query @ key.T / 1.5) + bias
    np.testing.assert_allclose(weights, np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True))


def test_a_row_that_sees_nothing_is_exactly_zero(rng) -> None:
    query, key, value = rng.standard_normal((3, 4, 8))
    seen = np.ones((4, 4), dtype=bool)
    seen[1] = False
    output, weights = scaled_dot_product_attention(query, key, value, seen)
    np.testing.assert_array_equal(output[1], 0.0)
    np.testing.assert_array_equal(weights[1], 0.0)
    np.testing.assert_allclose(weights[[0, 2, 3]].sum(axis=1), 1.0)


def test_softmax_of_huge_scores_is_finite() -> None:
    np.testing.assert_allclose(softmax(np.array([1e4, 1e4, -1e4])), [0.5, 0.5, 0.0])
    np.testing.assert_allclose(softmax(np.array([-1e6, -1e6 + 1])).sum(), 1.0)


def test_causal_is_the_lower_triangle() -> None:
    np.testing.assert_array_equal(causal(5), np.tril(np.ones((5, 5), dtype=bool)))
    _, weights = scaled_dot_product_attention(np.ones((5, 2)), np.ones((5, 2)), np.ones((5, 2)), causal(5))
    np.testing.assert_array_equal(weights[np.triu_indices(5, 1)], 0.0)
    np.testing.assert_allclose(weights[0], [1, 0, 0, 0, 0])


def test_heads_split_and_merge(rng) -> None:
    x = rng.standard_normal((2, 5, 12))
    heads = split_heads(x, 3)
    assert heads.shape == (2, 3, 5, 4)
    np.testing.assert_array_equal(heads[1, 2, 3], x[1, 3, 8:12])
    np.testing.assert_array_equal(merge_heads(heads), x)
    np.testing.assert_array_equal(split_heads(x[0], 3), heads[0])


RULES = {
    "full": (Full(), lambda q, k, p: True),
    "local": (Full(2), lambda q, k, p: abs(q - k) <= 2),
    "causal": (Causal(), lambda q, k, p: k <= q),
    "window": (Causal(window=3), lambda q, k, p: q - 3 < k <= q),
    "prefix": (Causal(prefix=True), lambda q, k, p: k <= q or (q < p and k < p)),
    "window-prefix": (Causal(2, prefix=True), lambda q, k, p: q - 2 < k <= q or (q < p and k < p)),
}


@pytest.mark.parametrize("rule", RULES)
def test_masks_pair_by_pair(rule: str, rng) -> None:
    visibility, expected = RULES[rule]
    query, key = rng.integers(0, 9, (2, 4)), rng.integers(0, 9, (2, 7))
    real, prefix = rng.random((2, 7)) < 0.7, np.array([4, 0])
    seen = visible(visibility, Frame(query, key, real, prefix, np.array([9, 9])))
    for b, t, s in np.ndindex(2, 4, 7):
        assert seen[b, t, s] == (real[b, s] and expected(query[b, t], key[b, s], prefix[b]))


def test_groups_share_their_keys(build, weights_of, ids) -> None:
    """Query head h reads key head h // 2: so say the tapped scores, computed again head by head."""
    spec = build.decoder(build.layer())
    seen, tap = record()
    run(spec, weights_of(spec), ids(1, 5), tap=tap)
    at = "decoder.blocks.0.attention"
    query, key = seen[f"{at}.query"], seen[f"{at}.key"]
    assert (query.shape[1], key.shape[1]) == (4, 2)
    for head in range(4):
        expected = query[0, head] @ key[0, head // 2].T / np.sqrt(8)
        np.testing.assert_allclose(seen[f"{at}.scores"][0, head], expected)


def test_taps_edit_what_follows(build, weights_of, ids) -> None:
    from clearformer.taps import Listening

    spec = build.decoder(build.layer())
    weights, tokens = weights_of(spec), ids(1, 5)
    silence = Listening(lambda name, value: 0 * value if name.endswith("attention.heads") else None)
    without = dict(weights) | {name: 0 * weights[name] for name in weights if "attention.output" in name}
    np.testing.assert_allclose(run(spec, weights, tokens, tap=silence), run(spec, without, tokens))
