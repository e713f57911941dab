"""A plain model made ready to write in bfloat16 on a CPU: projections in the block order that oneDNN reads.

torch reorders a bfloat16 matrix at every product; for one token that costs as much as the product itself. Packed once,
the same kernel gives the same numbers without it. Projections of one input become one product, a norm one kernel, and
dropout nothing: at one token the number of steps is what is left to save.
"""

from __future__ import annotations

import copy
from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from clearformer.layers.attention import Attention
from clearformer.layers.dropout import Dropout
from clearformer.layers.embed import TokenEmbedding
from clearformer.layers.feedforward import Gated
from clearformer.layers.head import Language
from clearformer.layers.norm import RMSNorm
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
        self.activation, self.dropout = plain.activation, nn.Identity()  # type: ignore[assignment]
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


class MirroredNorm(nn.Module):
    """RMSNorm by one kernel: LayerNorm of (x, −x), whose mean is 0 and whose variance is mean(x²)."""

    def __init__(self, plain: RMSNorm) -> None:
        super().__init__()
        self.eps = plain.eps
        self.gain = (1 + plain.weight if plain.unit_offset else plain.weight).detach()

    def forward(self, x: Float[Tensor, "*any D"]) -> Float[Tensor, "*any D"]:
        width = x.shape[-1]
        mirrored = torch.cat((x, -x), -1)
        return functional.layer_norm(mirrored, (2 * width,), eps=self.eps).narrow(-1, 0, width) * self.gain


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
    _pack_inside(twin)
    if isinstance(twin, DecoderOnly | EncoderDecoder) and isinstance(twin.head, Language):
        embed = (twin.stack if isinstance(twin, DecoderOnly) else twin.decoder).embed
        assert isinstance(embed, TokenEmbedding)
        twin.head = PackedLanguage(twin.head, embed.token.weight)
    return twin


def _pack_inside(parent: nn.Module) -> None:
    for name, child in list(parent.named_children()):
        replaced = _pack(child)
        setattr(parent, name, replaced)
        if replaced is child and not isinstance(child, Language):
            _pack_inside(child)


def _pack(module: nn.Module) -> nn.Module:
    """By exact type: a router is a Linear, and cross-attention an Attention, that stays as it is."""
    if isinstance(module, Dropout):
        return nn.Identity()
    if isinstance(module, RMSNorm) and not module.scale_first:
        return MirroredNorm(module)
    if type(module) is Attention and not module.cross:
        return PackedAttention(module)
    if type(module) is Gated:
        return PackedGated(module)
    return PackedLinear(module.weight, module.bias) if type(module) is nn.Linear else module


def is_packed(model: nn.Module) -> bool:
    """True for what `packed` made."""
    return any(isinstance(module, PackedLinear) for module in model.modules())
