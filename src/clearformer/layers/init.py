"""How weights are drawn before training; the spec names the scheme, the caller gives the generator."""

from __future__ import annotations

import math
from typing import assert_never

import torch
from torch import Tensor, nn

from clearformer.layers.attention import Attention
from clearformer.layers.embed import Reversible
from clearformer.layers.latent_attention import LatentAttention
from clearformer.layers.norm import LayerNorm, RMSNorm
from clearformer.layers.positions.learned import Learned
from clearformer.layers.positions.relative import RelativeBias
from clearformer.spec import Initialisation, Normal, T5Init, Xavier

_TO_RESIDUAL = (".output", ".down")


@torch.no_grad()
def draw(model: nn.Module, spec: Initialisation, *, layers: int, generator: torch.Generator | None) -> None:
    """Fill every parameter of `model`; `layers` L is the number of blocks, for residual scaling."""
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            _draw_matrix(name, module, model, spec, layers, generator)
        elif isinstance(module, nn.Embedding | Learned):
            _fill_normal(module.weight, _table_std(spec, module.weight.shape[-1]), generator)
        elif isinstance(module, RelativeBias):
            _fill_normal(module.weight, _relative_std(spec, name, model), generator)
        elif isinstance(module, LayerNorm | Reversible) and module.weight is not None:
            module.weight.fill_(1.0)
        elif isinstance(module, RMSNorm):
            module.weight.fill_(0.0 if module.unit_offset else 1.0)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            parameter.zero_()
        elif name.endswith("class_token"):
            _fill_normal(parameter, _table_std(spec, parameter.shape[-1]), generator)


def _draw_matrix(
    name: str,
    module: nn.Linear,
    model: nn.Module,
    spec: Initialisation,
    layers: int,
    generator: torch.Generator | None,
) -> None:
    match spec:
        case Normal(std=std, residual_scaled=scaled):
            writes = scaled and name.endswith(_TO_RESIDUAL)
            _fill_normal(module.weight, std / math.sqrt(2 * max(layers, 1)) if writes else std, generator)
        case Xavier(gain=gain):
            limit = gain * math.sqrt(6 / (module.in_features + module.out_features))
            module.weight.copy_(
                torch.empty_like(module.weight, device="cpu").uniform_(-limit, limit, generator=generator)
            )
        case T5Init(factor=factor):
            std = factor / math.sqrt(module.in_features) / _query_divisor(name, model)
            _fill_normal(module.weight, std, generator)
        case _:
            assert_never(spec)


def _query_divisor(name: str, model: nn.Module) -> float:
    """T5 does not scale scores, so its queries start smaller by √K."""
    parent = model.get_submodule(name.rpartition(".")[0])
    is_query = name.endswith((".query", ".query_up"))
    return math.sqrt(parent.spec.key_width) if is_query and isinstance(parent, Attention | LatentAttention) else 1.0


def _relative_std(spec: Initialisation, name: str, model: nn.Module) -> float:
    """A bias on scores stands beside them, not in the residual stream: T5 draws it smaller than its tokens by √D."""
    attention = model.get_submodule(name.rpartition(".")[0])
    assert isinstance(attention, Attention)
    width = attention.query.in_features
    return spec.factor / math.sqrt(width) if isinstance(spec, T5Init) else _table_std(spec, width)


def _table_std(spec: Initialisation, width: int) -> float:
    match spec:
        case Normal(std=std):
            return std
        case Xavier():
            return width**-0.5
        case T5Init(factor=factor):
            return factor
        case _:
            assert_never(spec)


def _fill_normal(weight: Tensor, std: float, generator: torch.Generator | None) -> None:
    """Drawn on the CPU, so that a seed gives the same weights on every device."""
    weight.copy_(torch.empty_like(weight, device="cpu").normal_(0.0, std, generator=generator))
