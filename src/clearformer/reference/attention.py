"""Attention: every query asks every key how well they match, and takes the mean of the values by the answers."""

from __future__ import annotations

import math
from typing import assert_never

import numpy as np
from jaxtyping import Bool, Float

from clearformer.reference.cache import Remember, forget
from clearformer.reference.frame import Frame
from clearformer.reference.mask import visible
from clearformer.reference.norm import norm
from clearformer.reference.positions.alibi import alibi_bias
from clearformer.reference.positions.relative import relative_bias
from clearformer.reference.positions.rotary import turn
from clearformer.reference.weights import Weights, linear
from clearformer.spec import ALiBi, Attention, AttentionPosition, RelativeBias, Rotary
from clearformer.taps import OFF, Tap


def scaled_dot_product_attention(
    query: Float[np.ndarray, "... T K"],
    key: Float[np.ndarray, "... S K"],
    value: Float[np.ndarray, "... S U"],
    visible: Bool[np.ndarray, "... T S"] | None = None,
    bias: Float[np.ndarray, "... T S"] | None = None,
    scale: float | None = None,
    cap: float | None = None,
    tap: Tap = OFF,
) -> tuple[Float[np.ndarray, "... T U"], Float[np.ndarray, "... T S"]]:
    """softmax(Q Kᵀ / √K) V and its weights (Vaswani et al. 2017 §3.2.1, arXiv 1706.03762).

    `scale` None is 1/√K; `cap` c bends scores to c·tanh(score/c); `bias` is added after both. Where `visible` is False
    a key does not exist for the query; a query that sees nothing gets zeros.
    """
    scores = query @ np.swapaxes(key, -1, -2) * (1.0 / math.sqrt(query.shape[-1]) if scale is None else scale)
    scores = scores if cap is None else cap * np.tanh(scores / cap)
    scores = tap("scores", scores if bias is None else scores + bias)
    masked = tap("masked_scores", scores if visible is None else np.where(visible, scores, -np.inf))
    weights = tap("weights", softmax(masked))
    return weights @ value, weights


def softmax(
    scores: Float[np.ndarray, "... S"], visible: Bool[np.ndarray, "... S"] | None = None
) -> Float[np.ndarray, "... S"]:
    """e^score / Σ e^score over the last dimension, among the visible; exact zeros where there is none."""
    if visible is not None:
        scores = np.where(visible, scores, -np.inf)
    highest = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(highest == -np.inf, 0.0, highest))
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0.0, 1.0, total)


def split_heads(x: Float[np.ndarray, "... T width"], heads: int) -> Float[np.ndarray, "... heads T K"]:
    """The last dimension cut into heads, each a sequence of its own."""
    return np.swapaxes(x.reshape(*x.shape[:-1], heads, -1), -2, -3)


def merge_heads(x: Float[np.ndarray, "... H T U"]) -> Float[np.ndarray, "... T width"]:
    """The heads side by side again."""
    x = np.swapaxes(x, -2, -3)
    return x.reshape(*x.shape[:-2], -1)


def attention(
    spec: Attention,
    weights: Weights,
    x: Float[np.ndarray, "B T D"],
    source: Float[np.ndarray, "B N M"],
    frame: Frame,
    *,
    relative: Float[np.ndarray, "buckets H"] | None = None,
    remember: Remember = forget,
    tap: Tap = OFF,
) -> Float[np.ndarray, "B T D"]:
    """Queries from x, keys and values from `source`: x itself, or the memory of an encoder (arXiv 1706.03762 §3.2.2).

    `relative` is the table of a T5 bias; `remember` adds the keys and values of earlier calls.
    """
    query = _heads(spec, weights, "query", x, spec.heads, frame, tap)

    def keys_and_values() -> tuple[np.ndarray, np.ndarray]:
        value = tap("value", split_heads(linear(source, weights.within("value")), spec.kv_heads))
        return _heads(spec, weights, "key", source, spec.kv_heads, frame, tap), value

    # Grouped queries: head h reads key/value head h // (H/G).
    key, value = (np.repeat(array, spec.heads // spec.kv_heads, axis=1) for array in remember(keys_and_values))
    seen = visible(spec.visibility, frame)[:, None]
    bias = score_bias(spec.position, spec.heads, frame, relative)
    heads, _ = scaled_dot_product_attention(query, key, value, seen, bias, spec.score_scale, spec.score_cap, tap)
    return tap("output", linear(merge_heads(tap("heads", heads)), weights.within("output")))


def _heads(
    spec: Attention, weights: Weights, name: str, x: np.ndarray, heads: int, frame: Frame, tap: Tap
) -> Float[np.ndarray, "B heads T K"]:
    """Queries or keys: projected, normalised, turned."""
    projected = linear(x, weights.within(name))
    if spec.qk_norm is not None and spec.qk_norm.over == "projection":
        projected = norm(spec.qk_norm.norm, weights.within(f"{name}_norm"), projected)
    split = split_heads(projected, heads)
    if spec.qk_norm is not None and spec.qk_norm.over == "head":
        split = norm(spec.qk_norm.norm, weights.within(f"{name}_norm"), split)
    split = tap(name, split)
    if not isinstance(spec.position, Rotary):
        return split
    return tap(f"{name}_rotated", turn(spec.position, split, frame.query_positions, frame.length_bound))


def score_bias(
    position: AttentionPosition | None,
    heads: int,
    frame: Frame,
    relative: Float[np.ndarray, "buckets H"] | None = None,
) -> Float[np.ndarray, "B H T S"] | None:
    """What the position adds to the scores, if it is of the kind that does."""
    match position:
        case None | Rotary():
            return None
        case ALiBi(max_bias=max_bias):
            return alibi_bias(heads, frame.query_positions, frame.key_positions, max_bias)
        case RelativeBias():
            assert relative is not None
            return relative_bias(position, relative, frame.query_positions, frame.key_positions)
        case _:
            assert_never(position)
