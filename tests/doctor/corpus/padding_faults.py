"""Padding: masks without effect, turned round, on the wrong axis, and rows with nothing left to see."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from doctor.corpus.case import Parts, faulty
from doctor.corpus.hand_written import HEADS, LAYERS, VOCAB, WIDTH, Attention, Block, Decoder, EncoderDecoder
from doctor.corpus.sight_faults import decoder, translator
from doctor.corpus.torch_modules import Embedded, WholeTransformer, drawn_anew


class Encoder(nn.Module):
    """A reader of both sides, as BERT is."""

    def __init__(self, attention: type[Attention] = Attention) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCAB, WIDTH), nn.Embedding(64, WIDTH)
        self.blocks = nn.ModuleList(Block(attention(causal=False)) for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCAB)

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        x = self.tokens(input_ids) + self.places(torch.arange(input_ids.shape[1]))
        for block in self.blocks:
            x = block(x, attention_mask)
        return self.head(self.norm(x))


def encoder(model: nn.Module) -> Parts:
    return {"model": model, "kind": "encoder", "vocab_size": VOCAB}


class Deaf(Attention):
    """Takes the padding mask and forgets it."""

    def forward(self, x: Tensor, memory: Tensor | None = None, padding: Tensor | None = None) -> Tensor:
        return super().forward(x, memory)


class Turned(Attention):
    def forward(self, x: Tensor, memory: Tensor | None = None, padding: Tensor | None = None) -> Tensor:
        return super().forward(x, memory, None if padding is None else ~padding.bool())


class OnQueries(Attention):
    """Hides the padded queries instead of the padded keys."""

    def attend(self, query: Tensor, key: Tensor, value: Tensor, hidden: Tensor | None) -> Tensor:
        if hidden is not None and hidden.ndim == 4:
            causal = self.hidden(query.shape[2], key.shape[2]) if self.causal else torch.zeros(1, dtype=torch.bool)
            absent = hidden.all(2) if not self.causal else hidden[:, :, -1]
            hidden = causal | absent[..., None]
        return super().attend(query, key, value, hidden)


class FloatPadding(Attention):
    """Adds a mask of ones and zeros to the scores."""

    def forward(self, x: Tensor, memory: Tensor | None = None, padding: Tensor | None = None) -> Tensor:
        query, key, value = (self.split(each(x)) for each in (self.query, self.key, self.value))
        scores = query @ key.transpose(-2, -1) * (WIDTH // HEADS) ** -0.5
        if self.causal:
            scores = self.cover(scores, self.hidden(x.shape[1], x.shape[1]))
        if padding is not None:
            scores = scores + padding[:, None, None, :].float()
        return self.out(self.merge(self.weigh(scores) @ value))


class MinusInfinity(Attention):
    """Rows that see nothing become NaN, and the next layer spreads it."""

    def cover(self, scores: Tensor, hidden: Tensor) -> Tensor:
        return scores.masked_fill(hidden, float("-inf"))


class AddedTwice(Attention):
    """Two masks of the smallest number, added: a padded query's keys are hidden by both, and the sum is -inf."""

    def forward(self, x: Tensor, memory: Tensor | None = None, padding: Tensor | None = None) -> Tensor:
        least = torch.finfo(x.dtype).min
        query, key, value = (self.split(each(x)) for each in (self.query, self.key, self.value))
        scores = query @ key.transpose(-2, -1) * (WIDTH // HEADS) ** -0.5
        hidden = self.hidden(x.shape[1], x.shape[1])
        if padding is not None:
            real = padding.bool()
            hidden = hidden | ~real[:, None, None, :]
            pairs = real[:, None, :, None] & real[:, None, None, :]
            scores = scores + torch.zeros(pairs.shape).masked_fill(~pairs, least)
        scores = scores + torch.zeros(hidden.shape).masked_fill(hidden, least)
        return self.out(self.merge(self.weigh(scores) @ value))


@faulty("padding mask without effect", report="B5")
def decoder_forgets_its_padding_mask() -> Parts:
    return decoder(Decoder(Deaf))


@faulty("padding mask without effect", report="B5")
def encoder_forgets_its_padding_mask() -> Parts:
    return encoder(Encoder(Deaf))


@faulty("padding mask inverted", report="M1")
def decoder_turns_its_padding_mask() -> Parts:
    return decoder(Decoder(Turned))


@faulty("padding mask inverted", report="M1")
def encoder_turns_its_padding_mask() -> Parts:
    return encoder(Encoder(Turned))


@faulty("padding mask on queries", "padding mask without effect", report="B5")
def encoder_hides_the_padded_queries() -> Parts:
    return encoder(Encoder(OnQueries))


@faulty("mask added as 0 and 1", "padding mask without effect", report="B4")
def encoder_adds_a_mask_of_ones() -> Parts:
    return encoder(Encoder(FloatPadding))


@faulty("mask added as 0 and 1", "padding mask without effect", report="B4")
def decoder_adds_a_mask_of_ones() -> Parts:
    return decoder(Decoder(FloatPadding))


@faulty("empty rows", report="F1")
def left_padding_gives_no_numbers() -> Parts:
    return decoder(Decoder(MinusInfinity))


@faulty("masks overflow", "empty rows", report="F2")
def two_masks_add_up_to_minus_infinity() -> Parts:
    return decoder(Decoder(AddedTwice))


@faulty("positions not from mask", report="B1")
def left_padding_moves_the_positions() -> Parts:
    class Counted(Decoder):
        def positions(self, input_ids: Tensor, attention_mask: Tensor | None) -> Tensor:
            return torch.arange(input_ids.shape[1])

    return decoder(Counted())


@faulty("memory padding mask missing", "padding mask without effect", report="B3")
def whole_transformer_without_a_memory_mask() -> Parts:
    class Open(WholeTransformer):
        def masks(self, src_padding: Tensor | None, length: int) -> dict[str, Any]:
            return super().masks(src_padding, length) | {"memory_key_padding_mask": None}

    return translator(Open())


@faulty("memory padding mask missing", "padding mask without effect", report="B3")
def crossing_reads_the_padded_source() -> Parts:
    class Open(EncoderDecoder):
        def forward(self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None) -> Tensor:
            return self.decode(tgt, self.encode(src, src_mask))

    return translator(Open())


@faulty("mask added as 0 and 1", report="B4")
def torch_encoder_given_a_mask_of_floats() -> Parts:
    class Reader(Embedded):
        def __init__(self) -> None:
            super().__init__()
            layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 64, batch_first=True)
            self.stack = drawn_anew(nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False))

        def forward(self, x: Tensor, attention_mask: Tensor) -> Tensor:
            return self.head(self.stack(self.embed(x), src_key_padding_mask=(1 - attention_mask.long()).float()))

    return encoder(Reader())


@faulty("empty rows", report="F1")
def kernel_rows_without_a_key() -> Parts:
    class Kernel(Attention):
        def attend(self, query: Tensor, key: Tensor, value: Tensor, hidden: Tensor | None) -> Tensor:
            weights = F.softmax((query @ key.mT) / query.shape[-1] ** 0.5 + _biased(hidden), -1)
            return weights @ value

    return encoder(Encoder(Kernel))


def _biased(hidden: Tensor | None) -> Tensor:
    return torch.zeros(1) if hidden is None else torch.zeros(hidden.shape).masked_fill(hidden, float("-inf"))
