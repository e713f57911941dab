"""One attention, several kernels, each tested against the plain one.

softmax(Q Kᵀ · scale + bias, over visible keys) V. A query that sees no key gets exact zeros and finite gradients in
every kernel and number type: its row is opened before the softmax and its output closed after. Hidden scores are −∞,
never a large number: −1e9 is −∞ in float16, and a uniform row reads the future.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from clearformer.layers.dropout import dropout as drop
from clearformer.layers.mask import Mask
from clearformer.layers.norm import at_least_float32
from clearformer.layers.positions.distance_bias import DistanceBias
from clearformer.layers.tiled import How
from clearformer.layers.tiled_kernel import attend_by_tiles
from clearformer.taps import OFF, Tap

Kernel = Literal["plain", "tiled", "sdpa"]
Query = Float[Tensor, "B H T K"]
Key = Float[Tensor, "B G S K"]
Value = Float[Tensor, "B G S U"]
Scores = Float[Tensor, "B H T S"]
Bias = Float[Tensor, "#B H T S"]
Output = Float[Tensor, "B H T U"]


def attend(
    query: Query,
    key: Key,
    value: Value,
    mask: Mask,
    *,
    scale: float,
    bias: Bias | DistanceBias | None = None,
    score_cap: float | None = None,
    dropout: float = 0.0,
    kernel: Kernel = "sdpa",
    tap: Tap = OFF,
) -> Output:
    """Attention by the named kernel; SDPA cannot bend scores, so a score cap is computed plainly.

    A fused kernel never holds scores and weights: they are computed beside it for whoever listens, and what a listener
    edits is what is mixed.
    """
    if tap.hears("scores", "masked_scores", "weights"):
        scores = score(query, key, scale=scale, bias=_table(bias), score_cap=score_cap)
        edited = tap("scores", scores)
        masked = hide(edited, mask)
        hidden = tap("masked_scores", masked)
        weights = normalise(hidden)
        chosen = tap("weights", weights)
        if edited is not scores or hidden is not masked or chosen is not weights:
            return mix(chosen, value, dropout=dropout)
    if kernel == "tiled":
        position, given = (bias.position, bias.weight) if isinstance(bias, DistanceBias) else (None, bias)
        return attend_by_tiles(query, key, value, given, How(mask, scale, score_cap, dropout, position=position))
    if kernel == "plain" or score_cap is not None:
        return _plain(query, key, value, mask, scale=scale, bias=_table(bias), score_cap=score_cap, dropout=dropout)
    return _sdpa(query, key, value, mask, scale=scale, bias=_table(bias), dropout=dropout)


def _table(bias: Bias | DistanceBias | None) -> Bias | None:
    return bias.table() if isinstance(bias, DistanceBias) else bias


def score(query: Query, key: Key, *, scale: float, bias: Bias | None = None, score_cap: float | None = None) -> Scores:
    """Q Kᵀ · scale, bent by the cap, then biased. Query head h reads key head h // (H / G)."""
    B, H, T, K = query.shape
    G, S = key.shape[1], key.shape[2]
    grouped = (query * scale).reshape(B, G, H // G * T, K)
    scores = at_least_float32(grouped @ key.transpose(-2, -1)).reshape(B, H, T, S)
    if score_cap is not None:
        scores = score_cap * torch.tanh(scores / score_cap)
    return scores if bias is None else scores + bias


def hide(scores: Scores, mask: Mask) -> Scores:
    """−∞ where a query may not look."""
    return scores if mask.hides_nothing else scores.masked_fill(~mask.visible(), -math.inf)


def normalise(masked: Scores) -> Scores:
    """Softmax over the visible keys; a row without any is zero."""
    blind = masked.amax(-1, keepdim=True) == -math.inf
    return masked.masked_fill(blind, 0.0).softmax(-1).masked_fill(blind, 0.0)


def mix(weights: Scores, value: Value, *, dropout: float = 0.0) -> Output:
    """weights · V, head groups sharing their values."""
    B, H, T, S = weights.shape
    G, U = value.shape[1], value.shape[3]
    kept = drop(weights, dropout) if dropout else weights
    grouped = kept.to(value.dtype).reshape(B, G, H // G * T, S)
    return (grouped @ value).reshape(B, H, T, U)


def _plain(
    query: Query,
    key: Key,
    value: Value,
    mask: Mask,
    *,
    scale: float,
    bias: Bias | None,
    score_cap: float | None,
    dropout: float,
) -> Output:
    """`score`, `weigh` and `mix` with few passes over the B H T S numbers: what training waits for is memory.

    Half-precision scores that nothing bends or biases stay as they are: the softmax itself sums in float32.
    """
    B, H, T, _ = query.shape
    G, S, U = key.shape[1], key.shape[2], value.shape[3]
    queries, keys = query.reshape(B * G, H // G * T, -1), key.reshape(B * G, S, -1).transpose(1, 2)
    exact = bias is None and score_cap is None
    hidden = None if mask.hides_nothing else mask.offset(query.dtype)
    nothing = query.new_zeros(1, 1, 1).expand(B * G, H // G * T, S)
    if exact and hidden is not None and hidden.shape[0] == 1 and H == G:
        scores = torch.baddbmm(hidden[0].expand(B * G, T, S), queries, keys, alpha=scale).view(B, H, T, S)
    else:
        scores = torch.baddbmm(nothing, queries, keys, beta=0, alpha=scale).view(B, H, T, S)
        scores = scores if exact else at_least_float32(scores)
        if score_cap is not None:
            scores = score_cap * torch.tanh(scores / score_cap)
        for each in (bias, hidden):
            scores = scores if each is None else scores.add_(each)
    weights = drop(scores.softmax(-1), dropout) if dropout else scores.softmax(-1)
    mixed = torch.bmm(weights.to(value.dtype).view(B * G, H // G * T, S), value.reshape(B * G, S, U)).view(B, H, T, U)
    sees_any = mask.sees_any()
    return mixed if sees_any is None else mixed * sees_any


def _sdpa(
    query: Query, key: Key, value: Value, mask: Mask, *, scale: float, bias: Bias | None, dropout: float
) -> Output:
    """PyTorch's fused attention. It takes a boolean table, or a float one that carries bias and −∞ together."""
    if query.shape[2] == 1 and bias is None and mask.hides_nothing and not dropout:
        # One query a head: the heads of a group become the queries of one head, and nothing is repeated.
        folded = query.reshape(query.shape[0], key.shape[1], -1, query.shape[3])
        return functional.scaled_dot_product_attention(folded, key, value, scale=scale).flatten(1, 2)[:, :, None]
    grouped = query.shape[1] != key.shape[1]
    causal = query.shape[2] > 1 and bias is None and mask.is_plain_causal
    masked = not causal and not mask.hides_nothing
    table: Tensor | None = mask.opened() if masked else None
    sees_any = mask.sees_any() if masked else None
    if bias is not None:
        bias = bias.to(query.dtype)
        table = bias if table is None else bias.masked_fill(~table, -math.inf)
    mixed = functional.scaled_dot_product_attention(
        query, key, value, attn_mask=table, dropout_p=dropout, is_causal=causal, scale=scale, enable_gqa=grouped
    )
    return mixed if sees_any is None else mixed * sees_any
