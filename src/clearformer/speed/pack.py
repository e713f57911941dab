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
from clearformer.layers.embed import TokenEmbedding
from clearformer.layers.feedforward import Gated
from clearformer.layers.head import Language
from clearformer.model import DecoderOnly, EncoderDecoder

AnyModule = TypeVar("AnyModule", bound=nn.Module)


class PackedLinear(nn.Module):
    """x Wᵀ + b. It holds no parameters: a packed model computes, and is neither trained nor saved."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self.packed = torch.ops.mkldnn._reorder_linear_weight(weight.detach(), 1)
        self.bias = None if bias is None else bias.detach()

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
        self.joint = side_by_side(*parts)
        self.output = PackedLinear(plain.output.weight, plain.output.bias)  # type: ignore[assignment]

    def project(self, x: Float[Tensor, "B T D"]) -> tuple[Tensor, Tensor, Tensor]:
        query, key, value = self.joint(x).split(self.widths, -1)
        return self.queries(query), self.keys(key), self.values(value)


class PackedGated(Gated):
    """A gated network whose gate and other half come out of one product."""

    def __init__(self, plain: Gated) -> None:
        nn.Module.__init__(self)
        self.activation, self.dropout = plain.activation, plain.dropout
        self.joint = side_by_side(plain.gate, plain.up)
        self.down = PackedLinear(plain.down.weight, plain.down.bias)  # type: ignore[assignment]

    def project(self, x: Float[Tensor, "*any D"]) -> tuple[Tensor, Tensor]:
        gate, up = self.joint(x).chunk(2, -1)
        return gate, up


class PackedLanguage(Language):
    """A head whose table is packed: a copy, as the embedding still looks its rows up in the plain one."""

    def __init__(self, plain: Language, table: Tensor) -> None:
        nn.Module.__init__(self)
        self.spec, self.transform, self.project = plain.spec, plain.transform, plain.project
        self.joint = PackedLinear(table if plain.project is None else plain.project.weight, plain.bias)

    def product(self, x: Float[Tensor, "B T D"], rows: Float[Tensor, "V D"]) -> Float[Tensor, "B T V"]:
        product: Tensor = self.joint(x)
        return product


def side_by_side(*parts: nn.Linear) -> PackedLinear:
    """One projection that gives the outputs of all parts; one without a bias adds zeros."""
    weight = torch.cat([part.weight.detach() for part in parts])
    if all(part.bias is None for part in parts):
        return PackedLinear(weight, None)
    zeros = [weight.new_zeros(part.out_features) for part in parts]
    biases = [zero if part.bias is None else part.bias.detach() for part, zero in zip(parts, zeros, strict=True)]
    return PackedLinear(weight, torch.cat(biases))


def can_pack(model: nn.Module) -> bool:
    """True for bfloat16 weights on a CPU whose oneDNN computes bfloat16."""
    weight = next(model.parameters())
    here = weight.device.type == "cpu" and weight.dtype == torch.bfloat16
    return here and torch.backends.mkldnn.is_available() and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


@torch.no_grad()
def packed(model: AnyModule) -> AnyModule:
    """A copy with packed projections and, in decoders, a packed head; other weights are shared.

    The model itself if `can_pack` is False. Let go of the original where only speed is wanted, and its blocks go.
    """
    if not can_pack(model):
        return model
    twin = copy.deepcopy(model, {id(weight): weight for weight in model.parameters()})
    for block in [module for module in twin.modules() if isinstance(module, Block)]:
        for parent in list(block.modules()):
            for name, child in parent.named_children():
                setattr(parent, name, _pack(child))
    if isinstance(twin, DecoderOnly | EncoderDecoder) and isinstance(twin.head, Language):
        embed = (twin.stack if isinstance(twin, DecoderOnly) else twin.decoder).embed
        assert isinstance(embed, TokenEmbedding)
        twin.head = PackedLanguage(twin.head, embed.token.weight)
    return twin


def _pack(module: nn.Module) -> nn.Module:
    """By exact type: a router is a Linear, and cross-attention an Attention, that stays as it is."""
    if type(module) is Attention and not module.cross:
        return PackedAttention(module)
    if type(module) is Gated:
        return PackedGated(module)
    return PackedLinear(module.weight, module.bias) if type(module) is nn.Linear else module


def is_packed(model: nn.Module) -> bool:
    """True for what `packed` made."""
    return any(isinstance(module, PackedLinear) for module in model.modules())
