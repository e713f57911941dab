"""Both passes of the tiled attention as operations of torch's own kind, for a compiler that must not unroll them.

An operation takes tensors and plain values alone, so the mask goes in as its parts. They are known to torch from the
moment that this file is read, and nothing else happens then.
"""

from __future__ import annotations

from typing import Any, assert_never

import torch
from torch import Tensor

from clearformer.layers import tiled
from clearformer.layers.mask import Mask
from clearformer.layers.positions.distance_bias import Position
from clearformer.layers.tiled import How
from clearformer.spec import ALiBi, Causal, Full, RelativeBias, Visibility

Given = tuple[Tensor, Tensor, Tensor, Tensor | None]
"""Query, key, value and bias."""
Parts = tuple[Any, ...]

_GIVEN = "Tensor query, Tensor key, Tensor value, Tensor? bias"
_PARTS = (
    "Tensor? seed, Tensor query_positions, Tensor key_positions, Tensor? key_real, Tensor? prefix, Tensor? documents, "
    "bool causal, int? reach, bool prefixed, bool in_order, float scale, float? score_cap, float dropout, "
    "float? max_bias, int? buckets, int max_distance, bool two_sided"
)
_FORWARD = f"({_GIVEN}, {_PARTS}) -> (Tensor, Tensor)"
_BACKWARD = (
    f"(Tensor pull, {_GIVEN}, Tensor mixed, Tensor logs, bool bias_too, {_PARTS}) -> (Tensor, Tensor, Tensor, Tensor)"
)


def forward(given: Given, seed: Tensor | None, how: How) -> tuple[Tensor, Tensor]:
    """As `tiled.forward`."""
    mixed, logs = torch.ops.clearformer.tiled_forward(*given, *parts_of(seed, how))
    return mixed, logs


def backward(
    pull: Tensor, given: Given, mixed: Tensor, logs: Tensor, seed: Tensor | None, how: How, *, bias_too: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """As `tiled.backward`."""
    parts = parts_of(seed, how)
    query, key, value, bias = torch.ops.clearformer.tiled_backward(pull, *given, mixed, logs, bias_too, *parts)
    return query, key, value, bias if bias_too else None


def parts_of(seed: Tensor | None, how: How) -> Parts:
    """What an operation takes for them."""
    mask, seen = how.mask, how.mask.visibility
    places = mask.query_positions, mask.key_positions, mask.key_real, mask.prefix, mask.documents
    match seen:
        case Causal(window=reach, prefix=prefixed):
            kind = True, reach, prefixed
        case Full(radius=reach):
            kind = False, reach, False
    return seed, *places, *kind, mask.in_order, how.scale, how.score_cap, how.dropout, *_parts_of_bias(how.position)


def _parts_of_bias(position: Position | None) -> Parts:
    match position:
        case None:
            return None, None, 0, False
        case ALiBi(max_bias=max_bias):
            return max_bias, None, 0, False
        case RelativeBias():
            return None, position.buckets, position.max_distance, position.two_sided
        case _:
            assert_never(position)


def _how(parts: Parts) -> How:
    """The inverse of `parts_of`."""
    seed, query, key, real, prefix, documents, causal, reach, prefixed, in_order, scale, cap, dropout, *bias = parts
    seen: Visibility = Causal(reach, prefixed) if causal else Full(reach)
    mask = Mask(seen, query, key, real, prefix, in_order, documents)
    return How(mask, scale, cap, dropout, 0 if seed is None else int(seed), position=_position(*bias))


def _position(max_bias: float | None, buckets: int | None, max_distance: int, two_sided: bool) -> Position | None:
    """The inverse of `_parts_of_bias`."""
    if max_bias is not None:
        return ALiBi(max_bias)
    return None if buckets is None else RelativeBias(buckets, max_distance, two_sided)


def _forward(*arguments: Any) -> tuple[Tensor, Tensor]:
    query, key, value, bias, *parts = arguments
    return tiled.forward(query, key, value, bias, _how(tuple(parts)))


def _backward(*arguments: Any) -> tuple[Tensor, ...]:
    pull, query, key, value, bias, mixed, logs, bias_too, *parts = arguments
    how = _how(tuple(parts))
    *found, of_bias = tiled.backward(pull, query, key, value, bias, mixed, logs, how, bias_too=bias_too)
    return *found, pull.new_empty(0) if of_bias is None else of_bias


def _forward_shapes(query: Tensor, key: Tensor, value: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    return tiled.room(query, key, value)


def _backward_shapes(
    pull: Tensor, query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, *more: Any
) -> tuple[Tensor, ...]:
    of_bias = torch.empty_like(bias) if bias is not None and more[2] else pull.new_empty(0)
    return *(tiled.as_projected(each) for each in (query, key, value)), of_bias


for _name, _schema, _run, _shapes in (
    ("clearformer::tiled_forward", _FORWARD, _forward, _forward_shapes),
    ("clearformer::tiled_backward", _BACKWARD, _backward, _backward_shapes),
):
    torch.library.custom_op(_name, _run, mutates_args=(), schema=_schema).register_fake(_shapes)
