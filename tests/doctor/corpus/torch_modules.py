"""`nn.TransformerDecoder`, `nn.TransformerEncoder` and `nn.Transformer` as people build on them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from doctor.corpus.hand_written import HEADS, LAYERS, LONGEST, VOCAB, WIDTH, Attention


def drawn_anew(module: nn.Module) -> nn.Module:
    """`nn.TransformerDecoder` copies one layer; what `nn.Transformer` does against it."""
    for weight in module.parameters():
        if weight.ndim > 1:
            nn.init.xavier_uniform_(weight)
    return module


def later(length: int) -> Tensor:
    """What the masks of torch.nn hide: True after the query."""
    return torch.ones(length, length, dtype=torch.bool).triu(1)


class OwnSelfAttention(nn.TransformerDecoderLayer):
    """A decoder layer of torch's, with a hand-written attention put in its place."""

    def __init__(self, attention: type[nn.Module] = Attention) -> None:
        super().__init__(WIDTH, HEADS, 64, dropout=0.0, batch_first=True)
        self.self_attn = attention()

    def _sa_block(self, x: Tensor, *_: Any, **__: Any) -> Tensor:
        return self.self_attn(x)


class Embedded(nn.Module):
    """Embeddings, places and a head around some stack."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCAB, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.head = nn.Linear(WIDTH, VOCAB)

    def embed(self, ids: Tensor) -> Tensor:
        return self.tokens(ids) + self.places(torch.arange(ids.shape[1]))


class Translator(Embedded):
    """An `nn.TransformerDecoder` over an `nn.TransformerEncoder`; `attention` replaces the target's own."""

    def __init__(self, attention: type[nn.Module] = Attention) -> None:
        super().__init__()
        reading = nn.TransformerEncoderLayer(WIDTH, HEADS, 64, dropout=0.0, batch_first=True)
        self.encoder = drawn_anew(nn.TransformerEncoder(reading, LAYERS, enable_nested_tensor=False))
        self.decoder = drawn_anew(nn.TransformerDecoder(OwnSelfAttention(attention), LAYERS))

    def forward(self, src: Tensor, tgt: Tensor, src_key_padding_mask: Tensor | None = None) -> Tensor:
        memory = self.encoder(self.embed(src), src_key_padding_mask=src_key_padding_mask)
        read = self.decoder(self.embed(tgt), memory, memory_key_padding_mask=src_key_padding_mask)
        return self.head(read)


class EncoderAsDecoder(Embedded):
    """The usual way to a GPT from torch.nn: encoder layers with a causal mask."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 64, dropout=0.1, batch_first=True, norm_first=True)
        self.stack = drawn_anew(nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False))

    def mask(self, length: int) -> Tensor | None:
        return later(length)

    def forward(self, idx: Tensor) -> Tensor:
        return self.head(self.stack(self.embed(idx), mask=self.mask(idx.shape[1])))


class WholeTransformer(Embedded):
    """`nn.Transformer` with masks made inside."""

    def __init__(self) -> None:
        super().__init__()
        self.transformer = nn.Transformer(WIDTH, HEADS, LAYERS, LAYERS, 64, dropout=0.1, batch_first=True)

    def masks(self, src_padding: Tensor | None, length: int) -> dict[str, Any]:
        return {
            "tgt_mask": later(length),
            "src_key_padding_mask": src_padding,
            "memory_key_padding_mask": src_padding,
        }

    def forward(self, src: Tensor, tgt: Tensor, src_key_padding_mask: Tensor | None = None) -> Tensor:
        masks = self.masks(src_key_padding_mask, tgt.shape[1])
        return self.head(self.transformer(self.embed(src), self.embed(tgt), **masks))
