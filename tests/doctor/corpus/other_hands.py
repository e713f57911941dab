"""Sound models in other idioms: lists of heads, sequences first, a start position, pooled rows."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from doctor.corpus.hand_written import HEADS, LAYERS, VOCAB, WIDTH, Block, Decoder
from doctor.corpus.padding_faults import Encoder
from doctor.corpus.position_faults import angles, half_turned


class OneHead(nn.Module):
    """One head as in a lecture: three projections, a triangle in a buffer."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(WIDTH, size, bias=False) for _ in range(3))
        self.register_buffer("tril", torch.tril(torch.ones(64, 64)))

    def weights(self, query: Tensor, key: Tensor) -> Tensor:
        scores = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
        length = query.shape[1]
        return F.softmax(scores.masked_fill(self.tril[:length, :length] == 0, float("-inf")), dim=-1)

    def forward(self, x: Tensor) -> Tensor:
        return self.weights(self.query(x), self.key(x)) @ self.value(x)


class HeadsInAList(nn.Module):
    """Heads side by side; padding is not told, as in the lecture."""

    def __init__(self, head: type[OneHead] = OneHead) -> None:
        super().__init__()
        self.heads = nn.ModuleList(head(WIDTH // HEADS) for _ in range(HEADS))
        self.proj = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor, padding: Tensor | None = None) -> Tensor:
        return self.proj(torch.cat([head(x) for head in self.heads], dim=-1))


class Lecture(nn.Module):
    """A decoder that is told of no padding, and answers by name."""

    def __init__(self, attention: Callable[[], nn.Module] = HeadsInAList) -> None:
        super().__init__()
        self.inner = Decoder(attention)

    def forward(self, idx: Tensor) -> dict[str, Tensor]:
        return {"logits": self.inner(idx)}


class SequenceFirst(nn.Module):
    """Ids (B, T) turned to (T, B) for torch's layers, and back."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCAB, WIDTH), nn.Embedding(64, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 64, norm_first=True)
        self.stack = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        for weight in self.stack.parameters():
            if weight.ndim > 1:
                nn.init.xavier_uniform_(weight)
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1]))
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        return self.head(self.stack(x.transpose(0, 1), mask=mask).transpose(0, 1))


class StartPos(nn.Module):
    """A cache kept inside, filled from `start_pos` on, as in Llama's first code."""

    def __init__(self) -> None:
        super().__init__()
        self.tok_embeddings = nn.Embedding(VOCAB, WIDTH)
        self.wqkv = nn.ModuleList(nn.Linear(WIDTH, 3 * WIDTH, bias=False) for _ in range(LAYERS))
        self.wo = nn.ModuleList(nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS))
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(LAYERS + 1))
        self.output = nn.Linear(WIDTH, VOCAB, bias=False)
        self.cache: list[tuple[Tensor, Tensor]] = []

    def reset_cache(self) -> None:
        self.cache = []

    def places(self, start_pos: int, length: int) -> Tensor:
        return torch.arange(start_pos, start_pos + length)

    def hidden(self, start_pos: int, length: int) -> Tensor | None:
        return torch.ones(length, start_pos + length, dtype=torch.bool).triu(start_pos + 1)

    def forward(self, tokens: Tensor, start_pos: int = 0) -> Tensor:
        rows, length = tokens.shape
        turn = torch.cat([angles(self.places(start_pos, length))] * 2, -1)
        x = self.tok_embeddings(tokens)
        for layer in range(LAYERS):
            query, key, value = (
                each.view(rows, length, HEADS, -1).transpose(1, 2)
                for each in self.wqkv[layer](self.norms[layer](x)).chunk(3, -1)
            )
            query, key = (each * turn.cos() + half_turned(each) * turn.sin() for each in (query, key))
            if start_pos:
                past = self.cache[layer]
                key, value = (
                    torch.cat([old[:, :, :start_pos], new], 2) for old, new in zip(past, (key, value), strict=True)
                )
            self.cache[layer : layer + 1] = [(key.detach(), value.detach())]
            hidden = self.hidden(start_pos, length)
            seen = None if hidden is None else ~hidden
            read = F.scaled_dot_product_attention(query, key, value, attn_mask=seen)
            x = x + self.wo[layer](read.transpose(1, 2).reshape(rows, length, WIDTH))
        return self.output(self.norms[-1](x))


class Pooled(Encoder):
    """A classifier of rows: the mean over what is real."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(WIDTH, 5)

    def pooled(self, x: Tensor, attention_mask: Tensor | None) -> Tensor:
        if attention_mask is None:
            return x.mean(1)
        real = attention_mask[..., None].to(x.dtype)
        return (x * real).sum(1) / real.sum(1).clamp(min=1)

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        x = self.tokens(input_ids) + self.places(torch.arange(input_ids.shape[1]))
        for block in self.blocks:
            x = block(x, attention_mask)
        return self.head(self.pooled(self.norm(x), attention_mask))


class LastOnly(nn.Module):
    """Logits of the last position alone while nothing is to be learnt, as nanoGPT gives them."""

    def __init__(self) -> None:
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCAB, WIDTH), nn.Embedding(64, WIDTH)
        self.h = nn.ModuleList(Block(HeadsInAList()) for _ in range(LAYERS))
        self.ln_f, self.lm_head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCAB, bias=False)

    def forward(self, idx: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        x = self.wte(idx) + self.wpe(torch.arange(idx.shape[1]))
        for block in self.h:
            x = block(x)
        x = self.ln_f(x)
        if targets is None:
            return self.lm_head(x[:, [-1], :]), None
        logits = self.lm_head(x)
        return logits, F.cross_entropy(logits.view(-1, VOCAB), targets.view(-1), ignore_index=-1)
