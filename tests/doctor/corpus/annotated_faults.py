"""The Transformer line by line, as teachers write it, masks made of the ids; `nn.TransformerEncoder` as a decoder."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from doctor.corpus.case import Parts, faulty, healthy
from doctor.corpus.hand_written import HEADS, LAYERS, LONGEST, VOCAB, WIDTH, FeedForward
from doctor.corpus.sight_faults import decoder

PAD = 0


class Heads(nn.Module):
    """`mask` is 0 where nothing is read."""

    def __init__(self) -> None:
        super().__init__()
        self.linears = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        rows = query.size(0)
        query, key, value = (
            linear(x).view(rows, -1, HEADS, WIDTH // HEADS).transpose(1, 2)
            for linear, x in zip(self.linears, (query, key, value), strict=False)
        )
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(WIDTH // HEADS)
        if mask is not None:
            scores = scores.masked_fill(mask.unsqueeze(1) == 0, -1e9)
        read = torch.matmul(scores.softmax(-1), value)
        return self.linears[-1](read.transpose(1, 2).contiguous().view(rows, -1, WIDTH))


class Layer(nn.Module):
    def __init__(self, *, crossing: bool) -> None:
        super().__init__()
        self.own, self.cross = Heads(), Heads() if crossing else None
        self.feedforward = FeedForward()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3 if crossing else 2))

    def forward(
        self, x: Tensor, mask: Tensor | None, memory: Tensor | None = None, seen: Tensor | None = None
    ) -> Tensor:
        y = self.norms[0](x)
        x = x + self.own(y, y, y, mask)
        if self.cross is not None:
            x = x + self.cross(self.norms[1](x), memory, memory, seen)
        return x + self.feedforward(self.norms[-1](x))


class Annotated(nn.Module):
    """Every line that a mask or a memory comes from is a method, and a fault overrides one."""

    def __init__(self) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(VOCAB, WIDTH), nn.Embedding(VOCAB, WIDTH)
        self.places = nn.Parameter(0.02 * torch.randn(LONGEST, WIDTH))
        self.encoder = nn.ModuleList(Layer(crossing=False) for _ in range(LAYERS))
        self.decoder = nn.ModuleList(Layer(crossing=True) for _ in range(LAYERS))
        self.norm, self.generator = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCAB)

    def of_source(self, src: Tensor) -> Tensor | None:
        return (src != PAD).unsqueeze(-2)

    def of_target(self, tgt: Tensor) -> Tensor:
        length = tgt.size(1)
        return (tgt != PAD).unsqueeze(-2) & (torch.triu(torch.ones(1, length, length), diagonal=1) == 0)

    def memory(self, src: Tensor, tgt: Tensor) -> Tensor:
        x = self.source(src) + self.places[: src.size(1)]
        for layer in self.encoder:
            x = layer(x, self.of_source(src))
        return x

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        memory, x = self.memory(src, tgt), self.target(tgt) + self.places[: tgt.size(1)]
        seen = self.of_source(src) if memory.size(1) == src.size(1) else None
        for layer in self.decoder:
            x = layer(x, self.of_target(tgt), memory, seen)
        return self.generator(self.norm(x))


def annotated(model: type[Annotated]) -> Parts:
    return {"model": model(), "kind": "encoder-decoder", "vocab_size": VOCAB, "pad_id": PAD}


@faulty("no causal mask", report="M3")
def target_mask_of_padding_alone() -> Parts:
    class Open(Annotated):
        def of_target(self, tgt: Tensor) -> Tensor:
            return (tgt != PAD).unsqueeze(-2)

    return annotated(Open)


@faulty("mask inverted", report="M1")
def subsequent_mask_compared_with_one() -> Parts:
    class Turned(Annotated):
        def of_target(self, tgt: Tensor) -> Tensor:
            length = tgt.size(1)
            return (tgt != PAD).unsqueeze(-2) & (torch.triu(torch.ones(1, length, length), diagonal=1) == 1)

    return annotated(Turned)


@faulty("memory is the target", "source unread", report="B3")
def memory_made_of_the_target() -> Parts:
    class Itself(Annotated):
        def memory(self, src: Tensor, tgt: Tensor) -> Tensor:
            return super().memory(tgt, tgt)

        def of_source(self, src: Tensor) -> Tensor | None:
            return None

    return annotated(Itself)


@faulty("memory padding mask missing", "padding mask without effect", report="B3")
def source_mask_never_made() -> Parts:
    class Bare(Annotated):
        def of_source(self, src: Tensor) -> Tensor | None:
            return None

    return annotated(Bare)


@healthy
def transformer_line_by_line() -> Parts:
    return annotated(Annotated)


class EncoderAsDecoder(nn.Module):
    """`nn.TransformerEncoder` with a square subsequent mask."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 2 * WIDTH, 0.0, batch_first=True, norm_first=True)
        self.tokens, self.places = nn.Embedding(VOCAB, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.stack = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, VOCAB, bias=False)
        for weight in (each for each in self.parameters() if each.ndim > 1):
            nn.init.normal_(weight, std=0.05)

    def mask(self, length: int) -> Tensor:
        return nn.Transformer.generate_square_subsequent_mask(length)

    def forward(self, x: Tensor) -> Tensor:
        length = x.size(1)
        return self.head(self.stack(self.tokens(x) + self.places(torch.arange(length)), mask=self.mask(length)))


@faulty("mask inverted", report="M1")
def square_mask_transposed() -> Parts:
    class Transposed(EncoderAsDecoder):
        def mask(self, length: int) -> Tensor:
            return super().mask(length).t()

    return decoder(Transposed())


@faulty("no causal mask", report="M3")
def square_mask_hides_the_last_alone() -> Parts:
    class Last(EncoderAsDecoder):
        def mask(self, length: int) -> Tensor:
            hidden = torch.zeros(length, length)
            hidden[:-1, -1] = float("-inf")
            return hidden

    return decoder(Last())


@healthy
def encoder_of_torch_with_a_square_mask() -> Parts:
    return decoder(EncoderAsDecoder())
