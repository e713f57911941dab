"""Other libraries' language models of one shape, each set up as its users set it up, for the training bench.

All are decoders with learned positions or rotary ones, whatever their library builds by default; all get the same ids
and the same optimizer (torch's fused AdamW), so that what is measured is the model's forward and backward pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from clearformer.bench.shapes import LanguageShape

Logits = Callable[[Tensor], Tensor]
Made = tuple[nn.Module, Logits]


class PlainBlock(nn.Module):
    """GPT-2's block: one product for query, key and value, SDPA, GELU, no biases."""

    def __init__(self, shape: LanguageShape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.norm_1, self.norm_2 = (nn.LayerNorm(shape.width, bias=False) for _ in range(2))
        self.inward = nn.Linear(shape.width, 3 * shape.width, bias=False)
        self.outward = nn.Linear(shape.width, shape.width, bias=False)
        self.up = nn.Linear(shape.width, 4 * shape.width, bias=False)
        self.down = nn.Linear(4 * shape.width, shape.width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        B, T, D = x.shape
        parts = self.inward(self.norm_1(x)).split(D, 2)
        query, key, value = (part.view(B, T, self.heads, -1).transpose(1, 2) for part in parts)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.outward(mixed.transpose(1, 2).reshape(B, T, D))
        return x + self.down(functional.gelu(self.up(self.norm_2(x))))


class NanoGPTLike(nn.Module):
    """A plain GPT-2 as nanoGPT has it: learned positions, tied head, pre-norm, and what writes to the residual stream
    drawn narrower by √(2L)."""

    def __init__(self, shape: LanguageShape) -> None:
        super().__init__()
        self.token = nn.Embedding(shape.vocabulary, shape.width)
        self.position = nn.Embedding(shape.context, shape.width)
        self.blocks = nn.Sequential(*(PlainBlock(shape) for _ in range(shape.layers)))
        self.norm = nn.LayerNorm(shape.width, bias=False)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                writes = name.endswith(("outward.weight", "down.weight"))
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * shape.layers) if writes else 0.02)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.token(ids) + self.position(torch.arange(ids.shape[1], device=ids.device))
        return functional.linear(self.norm(self.blocks(x)), self.token.weight)


class TorchEncoder(nn.Module):
    """`nn.TransformerEncoder` under a causal mask."""

    def __init__(self, shape: LanguageShape) -> None:
        super().__init__()
        self.token = nn.Embedding(shape.vocabulary, shape.width)
        self.position = nn.Embedding(shape.context, shape.width)
        layer = nn.TransformerEncoderLayer(
            shape.width, shape.heads, 4 * shape.width, 0.0, "gelu", batch_first=True, norm_first=True
        )
        self.stack = nn.TransformerEncoder(layer, shape.layers, nn.LayerNorm(shape.width), enable_nested_tensor=False)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(shape.context))
        nn.init.normal_(self.token.weight, std=0.02)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.token(ids) + self.position(torch.arange(ids.shape[1], device=ids.device))
        return functional.linear(self.stack(x, self.mask, is_causal=True), self.token.weight)


def plain(kind: Callable[[LanguageShape], nn.Module]) -> Callable[[LanguageShape], Made]:
    """A model of ours in another library's design, which is called as it is."""

    def make(shape: LanguageShape) -> Made:
        model = kind(shape)
        return model, model

    return make


def hugging_face(shape: LanguageShape) -> Made:
    """GPT-2 of transformers, without dropout."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=shape.vocabulary,
        n_positions=shape.context,
        n_embd=shape.width,
        n_layer=shape.layers,
        n_head=shape.heads,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        use_cache=False,
    )
    model = GPT2LMHeadModel(config)
    return model, lambda ids: model(input_ids=ids).logits


def litgpt(shape: LanguageShape) -> Made:
    """LitGPT's model in GPT-NeoX's form, its default."""
    from litgpt import GPT, Config

    config = Config(
        block_size=shape.context,
        vocab_size=shape.vocabulary,
        padded_vocab_size=shape.vocabulary,
        n_layer=shape.layers,
        n_head=shape.heads,
        n_embd=shape.width,
        head_size=shape.width // shape.heads,
        rotary_percentage=1.0,
        parallel_residual=False,
        bias=False,
    )
    model = GPT(config)
    return model, model


def x_transformers(shape: LanguageShape) -> Made:
    """x-transformers' decoder with its flash attention and tied table."""
    from x_transformers import Decoder, TransformerWrapper

    layers = Decoder(
        dim=shape.width,
        depth=shape.layers,
        heads=shape.heads,
        attn_dim_head=shape.width // shape.heads,
        attn_flash=True,
        ff_no_bias=True,
    )
    model = TransformerWrapper(
        num_tokens=shape.vocabulary, max_seq_len=shape.context, attn_layers=layers, tie_embedding=True
    )
    return model, model


# By name: the library that it needs, and its model.
LANGUAGE_PEERS: dict[str, tuple[str | None, Callable[[LanguageShape], Made]]] = {
    "nanogpt-like": (None, plain(NanoGPTLike)),
    "hf": ("transformers", hugging_face),
    "litgpt": ("litgpt", litgpt),
    "x-transformers": ("x_transformers", x_transformers),
    "nn": (None, plain(TorchEncoder)),
}


def next_token_loss(logits: Logits) -> Callable[[Tensor, Tensor], Tensor]:
    """What every peer's users write."""

    def loss(inputs: Tensor, targets: Tensor) -> Tensor:
        return functional.cross_entropy(logits(inputs).flatten(0, 1).float(), targets.flatten())

    return loss
