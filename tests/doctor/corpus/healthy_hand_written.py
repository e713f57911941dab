"""Decoders, encoders and translators written by hand or on torch.nn, in which nothing is wrong."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from doctor.corpus.cache_faults import CachedDecoder
from doctor.corpus.case import Parts, healthy
from doctor.corpus.hand_written import HEADS, LAYERS, VOCAB, WIDTH, Attention, Block, Decoder, EncoderDecoder
from doctor.corpus.padding_faults import Encoder, encoder
from doctor.corpus.position_faults import Grouped, Rotary, RotaryDecoder, angles, pairs_turned
from doctor.corpus.sight_faults import MultiheadDecoder, SelfAttended, decoder, translator
from doctor.corpus.torch_modules import EncoderAsDecoder, Translator, WholeTransformer


@healthy
def plain_decoder() -> Parts:
    return decoder(Decoder())


@healthy
def plain_encoder() -> Parts:
    return encoder(Encoder())


@healthy
def plain_encoder_decoder() -> Parts:
    return translator(EncoderDecoder())


@healthy
def decoder_with_rotary_positions() -> Parts:
    return decoder(RotaryDecoder())


@healthy
def decoder_with_rotary_pairs() -> Parts:
    class Pairs(Rotary):
        def turned(self, x: Tensor, positions: Tensor) -> Tensor:
            turn = angles(positions).repeat_interleave(2, -1)
            turn = turn if turn.ndim == 2 else turn[:, None]
            return x * turn.cos() + pairs_turned(x) * turn.sin()

    return decoder(RotaryDecoder(Pairs))


@healthy
def decoder_with_grouped_queries() -> Parts:
    return decoder(Decoder(Grouped))


@healthy
def decoder_with_one_key_head() -> Parts:
    class Single(Grouped):
        def __init__(self) -> None:
            super().__init__()
            self.key, self.value = nn.Linear(WIDTH, WIDTH // HEADS), nn.Linear(WIDTH, WIDTH // HEADS)

        def forward(self, x: Tensor, memory: Tensor | None = None, padding: Tensor | None = None) -> Tensor:
            key, value = (each(x)[:, None].expand(-1, HEADS, -1, -1) for each in (self.key, self.value))
            hidden = self.hidden(x.shape[1], x.shape[1])
            if padding is not None:
                hidden = hidden | ~padding.bool()[:, None, None, :]
            return self.out(self.merge(self.attend(self.split(self.query(x)), key, value, hidden)))

    return decoder(Decoder(Single))


@healthy
def decoder_with_a_window() -> Parts:
    class Windowed(Attention):
        def hidden(self, queries: int, keys: int) -> Tensor:
            apart = torch.arange(queries)[:, None] - torch.arange(keys)
            return (apart < 0) | (apart >= 4)

    return decoder(Decoder(Windowed), window=4)


@healthy
def decoder_with_linear_biases() -> Parts:
    class Biased(Attention):
        def scale(self, scores: Tensor, size: int) -> Tensor:
            slopes = 2.0 ** -torch.arange(1, HEADS + 1)
            apart = torch.arange(scores.shape[-1]) - torch.arange(scores.shape[-2])[:, None]
            return scores * size**-0.5 + slopes[:, None, None] * apart.clamp(max=0)

    class Placeless(Decoder):
        def __init__(self) -> None:
            super().__init__(Biased)
            del self.places

        def embed(self, input_ids: Tensor, attention_mask: Tensor | None) -> Tensor:
            return self.tokens(input_ids)

    return decoder(Placeless())


@healthy
def decoder_without_positions() -> Parts:
    class Placeless(Decoder):
        def __init__(self) -> None:
            super().__init__()
            del self.places

        def embed(self, input_ids: Tensor, attention_mask: Tensor | None) -> Tensor:
            return self.tokens(input_ids)

    return decoder(Placeless())


@healthy
def decoder_with_norms_after() -> Parts:
    class After(Block):
        def forward(self, x: Tensor, padding: Tensor | None = None) -> Tensor:
            x = self.norm1(x + self.attention(x, padding=padding))
            return self.norm2(x + self.feedforward(x))

    return decoder(Decoder(block=After))


@healthy
def decoder_with_parallel_blocks() -> Parts:
    class Parallel(Block):
        def forward(self, x: Tensor, padding: Tensor | None = None) -> Tensor:
            read = self.norm1(x)
            return x + self.attention(read, padding=padding) + self.feedforward(self.norm2(x))

    return decoder(Decoder(block=Parallel))


@healthy
def decoder_with_an_odd_scale() -> Parts:
    """Queries and keys of unit length, one learnt temperature a head."""

    class Cosine(Attention):
        def __init__(self) -> None:
            super().__init__()
            self.temperature = nn.Parameter(torch.full((HEADS, 1, 1), 5.0))

        def attend(self, query: Tensor, key: Tensor, value: Tensor, hidden: Tensor | None) -> Tensor:
            scores = self.temperature * (F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).mT)
            return self.weigh(self.cover(scores, hidden) if hidden is not None else scores) @ value

    return decoder(Decoder(Cosine))


@healthy
def decoder_with_capped_scores() -> Parts:
    class Capped(Attention):
        def scale(self, scores: Tensor, size: int) -> Tensor:
            return 20 * torch.tanh(scores * size**-0.5 / 20)

    return decoder(Decoder(Capped))


@healthy
def decoder_with_a_scaled_embedding_tied() -> Parts:
    class Tied(Decoder):
        def __init__(self) -> None:
            super().__init__()
            nn.init.normal_(self.tokens.weight, std=WIDTH**-0.5)
            self.head.weight = self.tokens.weight

        def embed(self, input_ids: Tensor, attention_mask: Tensor | None) -> Tensor:
            places = self.places(self.positions(input_ids, attention_mask))
            return math.sqrt(WIDTH) * self.tokens(input_ids) + places

    return decoder(Tied(), tied=True)


@healthy
def decoder_with_experts() -> Parts:
    class Experts(nn.Module):
        """The two best of four, weighted; no capacity."""

        def __init__(self) -> None:
            super().__init__()
            self.gate = nn.Linear(WIDTH, 4, bias=False)
            self.experts = nn.ModuleList(
                nn.Sequential(nn.Linear(WIDTH, 64), nn.SiLU(), nn.Linear(64, WIDTH)) for _ in range(4)
            )

        def forward(self, x: Tensor) -> Tensor:
            best, which = self.gate(x).topk(2, -1)
            share = torch.zeros(*x.shape[:-1], 4).scatter(-1, which, best.softmax(-1))
            return sum(share[..., i, None] * expert(x) for i, expert in enumerate(self.experts))

    model = Decoder()
    for block in model.blocks:
        block.feedforward = Experts()
    return decoder(model)


@healthy
def decoder_with_a_cache() -> Parts:
    return decoder(CachedDecoder())


@healthy
def decoder_in_bfloat16() -> Parts:
    return decoder(Decoder().bfloat16())


@healthy
def decoder_with_dropout() -> Parts:
    class Dropped(Attention):
        def weigh(self, scores: Tensor) -> Tensor:
            return F.dropout(scores.softmax(-1), 0.1, self.training)

    return decoder(Decoder(Dropped))


@healthy
def decoder_of_nanogpt() -> Parts:
    """One projection, the kernel, a tied head, targets taken beside the ids, logits and loss given back."""

    class SelfAttention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.c_attn, self.c_proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

        def forward(self, x: Tensor, **_: Any) -> Tensor:
            rows, length, width = x.size()
            query, key, value = (
                each.view(rows, length, HEADS, width // HEADS).transpose(1, 2)
                for each in self.c_attn(x).split(width, 2)
            )
            read = F.scaled_dot_product_attention(query, key, value, is_causal=True)
            return self.c_proj(read.transpose(1, 2).contiguous().view(rows, length, width))

    class GPT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.wte, self.wpe = nn.Embedding(VOCAB, WIDTH), nn.Embedding(48, WIDTH)
            self.h = nn.ModuleList(Block(SelfAttention()) for _ in range(LAYERS))
            self.ln_f, self.lm_head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCAB, bias=False)
            nn.init.normal_(self.wte.weight, std=0.02)
            nn.init.normal_(self.wpe.weight, std=0.02)
            self.lm_head.weight = self.wte.weight

        def forward(self, idx: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
            x = self.wte(idx) + self.wpe(torch.arange(idx.shape[1]))
            for block in self.h:
                x = block(x)
            x = self.ln_f(x)
            if targets is None:
                return self.lm_head(x), None
            logits = self.lm_head(x)
            return logits, F.cross_entropy(logits.view(-1, VOCAB), targets.view(-1), ignore_index=-1)

    return decoder(GPT(), context=48)


@healthy
def decoder_of_multihead_attention() -> Parts:
    return decoder(MultiheadDecoder(SelfAttended))


@healthy
def decoder_time_first() -> Parts:
    """`nn.MultiheadAttention` with the sequence first, turned for it and back."""

    class TimeFirst(SelfAttended):
        def forward(self, x: Tensor) -> Tensor:
            read = self.norm1(x).transpose(0, 1)
            x = x + self.attention(read, read, read, **self.masks(x.shape[1]))[0].transpose(0, 1)
            return x + self.feedforward(self.norm2(x))

    return decoder(MultiheadDecoder(TimeFirst, batch_first=False))


@healthy
def decoder_of_encoder_layers() -> Parts:
    return decoder(EncoderAsDecoder())


@healthy
def translator_of_decoder_layers() -> Parts:
    return translator(Translator())


@healthy
def translator_of_the_whole_transformer() -> Parts:
    return translator(WholeTransformer())
