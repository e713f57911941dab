"""Attention whose keys and values are rebuilt from one small vector a token (DeepSeek-V2 §2.1, arXiv 2405.04434)."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from clearformer.reference.attention import merge_heads, scaled_dot_product_attention, split_heads
from clearformer.reference.cache import Remember, forget
from clearformer.reference.frame import Frame
from clearformer.reference.mask import visible
from clearformer.reference.norm import norm
from clearformer.reference.positions.rotary import turn
from clearformer.reference.weights import Weights, linear
from clearformer.spec import LatentAttention
from clearformer.taps import OFF, Tap


def latent_attention(
    spec: LatentAttention,
    weights: Weights,
    x: Float[np.ndarray, "B T D"],
    frame: Frame,
    *,
    remember: Remember = forget,
    tap: Tap = OFF,
) -> Float[np.ndarray, "B T D"]:
    """A head's query and key are [content, no position | turned part]; the turned key is one for all heads."""
    query = tap("query", split_heads(_queries(spec, weights, x), spec.heads))
    query = tap("query_rotated", _turn_tail(spec, query, frame.query_positions, frame))

    def latent_and_rotary_key() -> tuple[np.ndarray, np.ndarray]:
        latent, key = np.split(linear(x, weights.within("latent_down")), [spec.kv_rank], axis=-1)
        return norm(spec.norm, weights.within("latent_norm"), latent), key

    # The rotary key is kept unturned, so that the tap shows every key before and after.
    latent, rotary_key = remember(latent_and_rotary_key)
    rebuilt = split_heads(linear(latent, weights.within("latent_up")), spec.heads)
    content, value = np.split(rebuilt, [spec.key_width], axis=-1)
    shared = np.broadcast_to(rotary_key[:, None], (*content.shape[:-1], spec.rotary_width))
    key = tap("key", np.concatenate([content, shared], axis=-1))
    key, value = tap("key_rotated", _turn_tail(spec, key, frame.key_positions, frame)), tap("value", value)

    seen = visible(spec.visibility, frame)[:, None]
    heads, _ = scaled_dot_product_attention(query, key, value, seen, scale=spec.score_scale, tap=tap)
    return tap("output", linear(merge_heads(tap("heads", heads)), weights.within("output")))


def _queries(spec: LatentAttention, weights: Weights, x: np.ndarray) -> np.ndarray:
    if spec.query_rank is None:
        return linear(x, weights.within("query"))
    latent = norm(spec.norm, weights.within("query_norm"), linear(x, weights.within("query_down")))
    return linear(latent, weights.within("query_up"))


def _turn_tail(spec: LatentAttention, x: np.ndarray, position: np.ndarray, frame: Frame) -> np.ndarray:
    content, tail = np.split(x, [spec.key_width], axis=-1)
    return np.concatenate([content, turn(spec.rotary, tail, position, frame.length_bound)], axis=-1)
