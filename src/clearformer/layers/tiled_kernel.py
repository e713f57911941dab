"""The tiled attention as one operation that autograd knows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from clearformer.layers import tiled, tiled_ops
from clearformer.layers.tiled import How


def attend_by_tiles(query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, how: How) -> Tensor:
    """Attention B H T U. Products are computed in autocast's number type where that is on."""
    device = query.device.type
    if torch.is_autocast_enabled(device):
        dtype = torch.get_autocast_dtype(device)
        query, key, value = query.to(dtype), key.to(dtype), value.to(dtype)
    seed = torch.randint(2**63 - 1, (1,)) if how.dropout else None
    with torch.autocast(device, enabled=False):
        mixed: Tensor = TiledAttention.apply(query, key, value, bias, seed, how)
    return mixed


class TiledAttention(torch.autograd.Function):
    """Keeps inputs, output and one number a query; the weights are computed again.

    While a model is compiled both passes are operations that the compiler takes whole: its graph has no tiles.
    """

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, seed: Tensor | None, how: How
    ) -> Tensor:
        given = query, key, value, bias
        if torch.compiler.is_compiling():
            mixed, logs = tiled_ops.forward(given, seed, how)
        else:
            mixed, logs = tiled.forward(*given, _seeded(how, seed))
        ctx.save_for_backward(*given, seed, mixed, logs)
        ctx.how = how
        return mixed

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, pull: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, bias, seed, mixed, logs = ctx.saved_tensors
        given, too = (query, key, value, bias), ctx.needs_input_grad[3]
        if torch.compiler.is_compiling():
            found = tiled_ops.backward(pull, given, mixed, logs, seed, ctx.how, bias_too=too)
        else:
            with torch.autocast(pull.device.type, enabled=False):
                found = tiled.backward(pull, *given, mixed, logs, _seeded(ctx.how, seed), bias_too=too)
        return *found, None, None


def _seeded(how: How, seed: Tensor | None) -> How:
    return how if seed is None else replace(how, seed=int(seed))
