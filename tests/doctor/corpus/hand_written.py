"""A decoder and an encoder-decoder as people write them by hand, sound, with the seams at which faults are planted."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

VOCAB, WIDTH, HEADS, LAYERS, LONGEST = 60, 32, 4, 2, 64


class Attention(nn.Module):
    """Scores, mask, softmax, sum, one line each; every line is a method, and a fault overrides one."""

    batch_first = True

    def __init__(self, width: int = WIDTH, heads: int = HEADS, causal: bool = True) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def split(self, x: Tensor) -> Tensor:
        rows, length, width = x.shape
        return x.view(rows, length, self.heads, width // self.heads).transpose(1, 2)

    def merge(self, x: Tensor) -> Tensor:
        rows, heads, length, size = x.shape
        return x.transpose(1, 2).reshape(rows, length, heads * size)

    def scale(self, scores: Tensor, size: int) -> Tensor:
        return scores * size**-0.5

    def hidden(self, queries: int, keys: int) -> Tensor:
        return torch.ones(queries, keys, dtype=torch.bool).triu(1 + keys - queries)

    def cover(self, scores: Tensor, hidden: Tensor) -> Tensor:
        return scores.masked_fill(hidden, torch.finfo(scores.dtype).min)

    def weigh(self, scores: Tensor) -> Tensor:
        return scores.softmax(-1)

    def attend(self, query: Tensor, key: Tensor, value: Tensor, hidden: Tensor | None) -> Tensor:
        scores = self.scale(query @ key.transpose(-2, -1), query.shape[-1])
        if hidden is not None:
            scores = self.cover(scores, hidden)
        return self.weigh(scores) @ value

    def forward(self, x: Tensor, memory: Tensor | None = None, padding: Tensor | None = None) -> Tensor:
        read = x if memory is None else memory
        query, key, value = self.split(self.query(x)), self.split(self.key(read)), self.split(self.value(read))
        hidden = self.hidden(x.shape[1], read.shape[1]) if self.causal else None
        if padding is not None:
            absent = ~padding.bool()[:, None, None, :]
            hidden = absent if hidden is None else hidden | absent
        return self.out(self.merge(self.attend(query, key, value, hidden)))


class FeedForward(nn.Module):
    def __init__(self, width: int = WIDTH) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(F.gelu(self.up(x)))


class Block(nn.Module):
    """Pre-norm."""

    def __init__(self, attention: nn.Module) -> None:
        super().__init__()
        self.attention, self.feedforward = attention, FeedForward()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x: Tensor, padding: Tensor | None = None) -> Tensor:
        x = x + self.attention(self.norm1(x), padding=padding)
        return x + self.feedforward(self.norm2(x))


class Decoder(nn.Module):
    """GPT in small: learned positions that are counted over the real tokens, pre-norm, an untied head."""

    def __init__(
        self, attention: Callable[[], nn.Module] = Attention, block: type[nn.Module] = Block, layers: int = LAYERS
    ) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCAB, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.blocks = nn.ModuleList(block(attention()) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCAB, bias=False)
        for table in (self.tokens, self.places):
            nn.init.normal_(table.weight, std=0.02)

    def positions(self, input_ids: Tensor, attention_mask: Tensor | None) -> Tensor:
        if attention_mask is None:
            return torch.arange(input_ids.shape[1])
        return (attention_mask.long().cumsum(-1) - 1).clamp(min=0)

    def embed(self, input_ids: Tensor, attention_mask: Tensor | None) -> Tensor:
        return self.tokens(input_ids) + self.places(self.positions(input_ids, attention_mask))

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        x = self.embed(input_ids, attention_mask)
        for block in self.blocks:
            x = block(x, attention_mask)
        return self.head(self.norm(x))


class CrossBlock(nn.Module):
    """A decoder's block that reads a source."""

    def __init__(self, attention: nn.Module, crossing: nn.Module) -> None:
        super().__init__()
        self.attention, self.crossing, self.feedforward = attention, crossing, FeedForward()
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(WIDTH) for _ in range(3))

    def forward(self, x: Tensor, memory: Tensor, source_padding: Tensor | None = None) -> Tensor:
        x = x + self.attention(self.norm1(x))
        x = x + self.crossing(self.norm2(x), memory, source_padding)
        return x + self.feedforward(self.norm3(x))


class EncoderDecoder(nn.Module):
    """`attention` reads the target, `crossing` the source; the encoder is sound."""

    def __init__(
        self,
        attention: type[nn.Module] = Attention,
        crossing: type[Attention] = Attention,
        block: type[nn.Module] = CrossBlock,
    ) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCAB, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.encoder = nn.ModuleList(Block(Attention(causal=False)) for _ in range(LAYERS))
        self.decoder = nn.ModuleList(block(attention(), crossing(causal=False)) for _ in range(LAYERS))
        self.encoded, self.decoded = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCAB, bias=False)
        for table in (self.tokens, self.places):
            nn.init.normal_(table.weight, std=0.02)

    def encode(self, src: Tensor, src_mask: Tensor | None = None) -> Tensor:
        x = self.tokens(src) + self.places(torch.arange(src.shape[1]))
        for block in self.encoder:
            x = block(x, src_mask)
        return self.encoded(x)

    def decode(self, tgt: Tensor, memory: Tensor, src_mask: Tensor | None = None) -> Tensor:
        x = self.tokens(tgt) + self.places(torch.arange(tgt.shape[1]))
        for block in self.decoder:
            x = block(x, memory, src_mask)
        return self.head(self.decoded(x))

    def forward(self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None) -> Tensor:
        return self.decode(tgt, self.encode(src, src_mask), src_mask)
