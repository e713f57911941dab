"""bfloat16 projections in the block order that oneDNN reads, for inference on a CPU.

torch reorders a bfloat16 matrix at every product; for one token that costs as much as the product itself. Packed once,
the same kernel gives the same numbers without it.
"""

from __future__ import annotations

import copy
from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from clearformer.layers.attention import Attention
from clearformer.layers.block import Block

AnyModule = TypeVar("AnyModule", bound=nn.Module)


class PackedLinear(nn.Module):
    """x Wᵀ + b. It holds no parameters: a packed model computes, and is neither trained nor saved."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.packed = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach(), 1)
        self.bias = None if linear.bias is None else linear.bias.detach()

    def forward(self, x: Float[Tensor, "*any width"]) -> Float[Tensor, "*any outputs"]:
        product: Tensor = torch.ops.mkldnn._linear_pointwise(x, self.packed, self.bias, "none", [], "")
        return product


class PackedAttention(Attention):
    """Self-attention whose queries, keys and values come out of one product."""

    def __init__(self, plain: Attention) -> None:
        nn.Module.__init__(self)
        self.spec, self.cross, self.kernel = plain.spec, plain.cross, plain.kernel
        self.query_norm, self.key_norm, self.relative = plain.query_norm, plain.key_norm, plain.relative
        parts = (plain.query, plain.key, plain.value)
        self.widths = [part.out_features for part in parts]
        self.joint = PackedLinear(side_by_side(parts))
        self.output = PackedLinear(plain.output)  # type: ignore[assignment]

    def project(self, x: Float[Tensor, "B T D"]) -> tuple[Tensor, Tensor, Tensor]:
        query, key, value = self.joint(x).split(self.widths, -1)
        return self.queries(query), self.keys(key), self.values(value)


def side_by_side(parts: tuple[nn.Linear, ...]) -> nn.Linear:
    """One projection that gives the outputs of all parts; one without a bias adds zeros."""
    first = parts[0]
    biased = any(part.bias is not None for part in parts)
    joint = nn.Linear(first.in_features, sum(part.out_features for part in parts), biased, dtype=first.weight.dtype)
    joint.weight.copy_(torch.cat(tuple(part.weight for part in parts)))
    if biased:
        zeros = [first.weight.new_zeros(part.out_features) for part in parts]
        biases = [zero if part.bias is None else part.bias for part, zero in zip(parts, zeros, strict=True)]
        joint.bias.copy_(torch.cat(biases))
    return joint


def can_pack(model: nn.Module) -> bool:
    """True for bfloat16 weights on a CPU whose oneDNN computes bfloat16."""
    weight = next(model.parameters())
    here = weight.device.type == "cpu" and weight.dtype == torch.bfloat16
    return here and torch.backends.mkldnn.is_available() and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


@torch.no_grad()
def packed(model: AnyModule) -> AnyModule:
    """A copy with packed projections in its blocks, all other weights shared; the model itself if `can_pack` is False.

    Let go of the original where only speed is wanted: its blocks' weights are then freed.
    """
    if not can_pack(model):
        return model
    twin = copy.deepcopy(model, {id(weight): weight for weight in model.parameters()})
    for block in [module for module in twin.modules() if isinstance(module, Block)]:
        if isinstance(block.attention, Attention):
            block.attention = PackedAttention(block.attention)
        for parent in list(block.modules()):
            for name, child in parent.named_children():
                # Not a router: it is a Linear of its own kind, and goes on in float32.
                if type(child) is nn.Linear:
                    setattr(parent, name, PackedLinear(child))
    return twin


def is_packed(model: nn.Module) -> bool:
    """True for what `packed` made."""
    return any(isinstance(module, PackedLinear) for module in model.modules())
