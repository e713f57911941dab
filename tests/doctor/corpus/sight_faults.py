"""Who sees whom, in the idioms of torch: kernels, `nn.MultiheadAttention`, `nn.TransformerEncoder`, einsum."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from doctor.corpus.case import Parts, faulty
from doctor.corpus.hand_written import HEADS, LAYERS, VOCAB, WIDTH, Attention, Decoder, EncoderDecoder
from doctor.corpus.torch_modules import Embedded, EncoderAsDecoder, WholeTransformer, drawn_anew, later


def decoder(model: nn.Module, **more: Any) -> Parts:
    return {"model": model, "kind": "decoder", "vocab_size": VOCAB, **more}


def translator(model: nn.Module, **more: Any) -> Parts:
    return {"model": model, "kind": "encoder-decoder", "vocab_size": VOCAB, **more}


@faulty("mask inverted", report="M1")
def kernel_given_the_mask_of_multihead_attention() -> Parts:
    class Kernel(Attention):
        def attend(self, query: Tensor, key: Tensor, value: Tensor, hidden: Tensor | None) -> Tensor:
            return F.scaled_dot_product_attention(query, key, value, attn_mask=hidden)

    return decoder(Decoder(Kernel))


@faulty("mask added as 0 and 1", report="B4")
def kernel_given_a_table_of_floats() -> Parts:
    class Kernel(Attention):
        def attend(self, query: Tensor, key: Tensor, value: Tensor, hidden: Tensor | None) -> Tensor:
            seen = None if hidden is None else (~hidden).float()
            return F.scaled_dot_product_attention(query, key, value, attn_mask=seen)

    return decoder(Decoder(Kernel))


@faulty("no causal mask", "causal mask only with another mask", report="M3")
def causal_only_when_another_mask_is_given() -> Parts:
    class Merged(Attention):
        def hidden(self, queries: int, keys: int) -> Tensor | None:
            return None

        def forward(self, x: Tensor, memory: Tensor | None = None, padding: Tensor | None = None) -> Tensor:
            if padding is not None:
                seen = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
                padding = seen & padding.bool()[:, None, None, :]
            query, key, value = (self.split(each(x)) for each in (self.query, self.key, self.value))
            return self.out(self.merge(F.scaled_dot_product_attention(query, key, value, attn_mask=padding)))

    return decoder(Decoder(Merged))


class SelfAttended(nn.Module):
    """`nn.MultiheadAttention` in a block; `masks` says what it is handed."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, **({"batch_first": True} | options))
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.feedforward = nn.Sequential(nn.Linear(WIDTH, 64), nn.ReLU(), nn.Linear(64, WIDTH))

    def masks(self, length: int) -> dict[str, Any]:
        return {"attn_mask": later(length), "need_weights": False}

    def forward(self, x: Tensor) -> Tensor:
        read = self.norm1(x)
        x = x + self.attention(read, read, read, **self.masks(x.shape[1]))[0]
        return x + self.feedforward(self.norm2(x))


class MultiheadDecoder(Embedded):
    def __init__(self, block: type[SelfAttended] = SelfAttended, **options: Any) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(block(**options) for _ in range(LAYERS))

    def forward(self, x: Tensor) -> Tensor:
        h = self.embed(x)
        for block in self.blocks:
            h = block(h)
        return self.head(h)


@faulty("is_causal hint disagrees", "no causal mask", report="M2")
def hint_dropped_when_weights_are_wanted() -> Parts:
    class Hinted(SelfAttended):
        def masks(self, length: int) -> dict[str, Any]:
            return {"attn_mask": torch.zeros(length, length), "is_causal": True, "need_weights": True}

    return decoder(MultiheadDecoder(Hinted))


@faulty("mask inverted", report="M1")
def multihead_attention_given_the_mask_of_the_kernel() -> Parts:
    class Kept(SelfAttended):
        def masks(self, length: int) -> dict[str, Any]:
            return {"attn_mask": ~later(length), "need_weights": False}

    return decoder(MultiheadDecoder(Kept))


@faulty("mask added as 0 and 1", report="B4")
def multihead_attention_given_a_table_of_floats() -> Parts:
    class Floats(SelfAttended):
        def masks(self, length: int) -> dict[str, Any]:
            return {"attn_mask": torch.tril(torch.ones(length, length)), "need_weights": False}

    return decoder(MultiheadDecoder(Floats))


@faulty("batch first missing", report="P1")
def multihead_attention_reads_across_the_batch() -> Parts:
    class Across(SelfAttended):
        def masks(self, length: int) -> dict[str, Any]:
            return {"need_weights": False}

    return decoder(MultiheadDecoder(Across, batch_first=False))


@faulty("no causal mask", report="M3")
def encoder_layers_without_their_mask() -> Parts:
    class Forgotten(EncoderAsDecoder):
        def mask(self, length: int) -> Tensor | None:
            return None

    return decoder(Forgotten())


@faulty("mask inverted", report="M1")
def encoder_layers_with_a_lower_triangle() -> Parts:
    class Lower(EncoderAsDecoder):
        def mask(self, length: int) -> Tensor | None:
            return torch.tril(torch.ones(length, length)).bool()

    return decoder(Lower())


@faulty("memory is the target", "no causal mask", report="M3")
def decoder_layers_reading_their_own_input_as_memory() -> Parts:
    class OwnMemory(Embedded):
        def __init__(self) -> None:
            super().__init__()
            layer = nn.TransformerDecoderLayer(WIDTH, HEADS, 64, dropout=0.1, batch_first=True)
            self.stack = drawn_anew(nn.TransformerDecoder(layer, LAYERS))

        def forward(self, ids: Tensor) -> Tensor:
            h = self.embed(ids)
            return self.head(self.stack(h, h, tgt_mask=later(ids.shape[1])))

    return decoder(OwnMemory())


def _hidden(length: int, padding: Tensor | None) -> Tensor:
    return later(length) if padding is None else later(length) | ~padding.bool()[:, None, None, :]


@faulty("softmax over the wrong axis", report="M7")
def einsum_attention_normalised_over_the_query() -> Parts:
    class Einsum(Attention):
        def forward(self, x: Tensor, memory: Tensor | None = None, padding: Tensor | None = None) -> Tensor:
            rows, length, _ = x.shape
            query, key, value = (each(x).view(rows, length, HEADS, -1) for each in (self.query, self.key, self.value))
            scores = torch.einsum("bqhd,bkhd->bhqk", query, key) / (WIDTH // HEADS) ** 0.5
            scores = scores.masked_fill(_hidden(length, padding), float("-1e20"))
            weights = torch.softmax(scores, dim=2)
            return self.out(torch.einsum("bhqk,bkhd->bqhd", weights, value).reshape(rows, length, WIDTH))

    return decoder(Decoder(Einsum))


@faulty("scale wrong", report="N1")
def einsum_attention_scaled_by_the_embedding() -> Parts:
    class Einsum(Attention):
        def forward(self, x: Tensor, memory: Tensor | None = None, padding: Tensor | None = None) -> Tensor:
            rows, length, _ = x.shape
            query, key, value = (each(x).view(rows, length, HEADS, -1) for each in (self.query, self.key, self.value))
            scores = torch.einsum("bqhd,bkhd->bhqk", query, key)
            scores = scores.masked_fill(_hidden(length, padding), float("-1e20"))
            weights = torch.softmax(scores / WIDTH**0.5, dim=3)
            return self.out(torch.einsum("bhqk,bkhd->bqhd", weights, value).reshape(rows, length, WIDTH))

    return decoder(Decoder(Einsum))


@faulty("window off by one", report="M6")
def window_shows_one_more() -> Parts:
    class Windowed(Attention):
        def hidden(self, queries: int, keys: int) -> Tensor:
            apart = torch.arange(queries)[:, None] - torch.arange(keys)
            return (apart < 0) | (apart > 4)

    return decoder(Decoder(Windowed), window=4)


@faulty("window off by one", report="M6")
def window_shows_one_less() -> Parts:
    class Windowed(Attention):
        def hidden(self, queries: int, keys: int) -> Tensor:
            apart = torch.arange(queries)[:, None] - torch.arange(keys)
            return (apart < 0) | (apart >= 3)

    return decoder(Decoder(Windowed, layers=1), window=4)


@faulty("documents mixed", report="M10")
def packed_documents_see_each_other() -> Parts:
    class Packed(Decoder):
        def forward(
            self, input_ids: Tensor, attention_mask: Tensor | None = None, document_ids: Tensor | None = None
        ) -> Tensor:
            return super().forward(input_ids, attention_mask)

    return decoder(Packed())


@faulty("normalised over positions", "no causal mask", report="M3")
def normalised_over_the_whole_sequence() -> Parts:
    class OverTime(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return (x - x.mean(1, keepdim=True)) / (x.std(1, keepdim=True) + 1e-5)

    model = Decoder()
    model.norm = OverTime()
    return decoder(model)


@faulty("source unread", report="B3")
def crossing_reads_the_target() -> Parts:
    class Forgetful(Attention):
        def forward(self, x: Tensor, memory: Tensor | None = None, padding: Tensor | None = None) -> Tensor:
            seen = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
            query, key, value = (self.split(each(x)) for each in (self.query, self.key, self.value))
            return self.out(self.merge(F.scaled_dot_product_attention(query, key, value, attn_mask=seen)))

    return translator(EncoderDecoder(crossing=Forgetful))


@faulty("source hidden by causal mask", report="C1")
def crossing_is_causal() -> Parts:
    class Causal(Attention):
        def attend(self, query: Tensor, key: Tensor, value: Tensor, hidden: Tensor | None) -> Tensor:
            return F.scaled_dot_product_attention(query, key, value, is_causal=True)

    return translator(EncoderDecoder(crossing=Causal))


@faulty("no causal mask", report="M3")
def whole_transformer_without_a_target_mask() -> Parts:
    class Open(WholeTransformer):
        def masks(self, src_padding: Tensor | None, length: int) -> dict[str, Any]:
            return super().masks(src_padding, length) | {"tgt_mask": None}

    return translator(Open())


@faulty("mask off by one", report="M1")
def whole_transformer_sees_the_next_target() -> Parts:
    class Ahead(WholeTransformer):
        def masks(self, src_padding: Tensor | None, length: int) -> dict[str, Any]:
            return super().masks(src_padding, length) | {"tgt_mask": torch.full((length, length), -1e9).triu(2)}

    return translator(Ahead())
