"""Caches: what is kept of the past, and where in the sequence a new token stands."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from doctor.corpus.case import Parts, faulty
from doctor.corpus.hand_written import HEADS, LAYERS, LONGEST, VOCAB, WIDTH, Attention, Decoder, FeedForward
from doctor.corpus.sight_faults import decoder

Past = tuple[Tensor, Tensor]


class Cached(nn.Module):
    """Attention with the keys and values of earlier calls in front of the new ones."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def seen(self, queries: int, keys: int, past: Past | None) -> Tensor | None:
        return torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries)

    def joined(self, key: Tensor, value: Tensor, past: Past) -> Past:
        return torch.cat([past[0], key], 2), torch.cat([past[1], value], 2)

    def forward(self, x: Tensor, past: Past | None) -> tuple[Tensor, Past]:
        rows, length, _ = x.shape
        query, key, value = (
            each.view(rows, length, HEADS, WIDTH // HEADS).transpose(1, 2) for each in self.qkv(x).chunk(3, -1)
        )
        if past is not None:
            key, value = self.joined(key, value, past)
        read = F.scaled_dot_product_attention(query, key, value, attn_mask=self.seen(length, key.shape[2], past))
        return self.out(read.transpose(1, 2).reshape(rows, length, WIDTH)), (key, value)


class CachedDecoder(nn.Module):
    """Takes `past_key_values`, a list of one pair a layer, and gives logits and the new list."""

    def __init__(self, attention: type[nn.Module] = Cached) -> None:
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCAB, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.attentions = nn.ModuleList(attention() for _ in range(LAYERS))
        self.feedforwards = nn.ModuleList(FeedForward() for _ in range(LAYERS))
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2 * LAYERS + 1))
        self.head = nn.Linear(WIDTH, VOCAB, bias=False)
        # Places as strong as tokens: a position that is wrong by one is to be seen.
        for table in (self.wte, self.wpe):
            nn.init.normal_(table.weight, std=0.2)

    def start(self, past_key_values: list[Past] | None, length: int) -> int:
        return 0 if past_key_values is None else past_key_values[0][0].shape[2]

    def forward(
        self, input_ids: Tensor, past_key_values: list[Past] | None = None, use_cache: bool = False
    ) -> tuple[Tensor, list[Past] | None]:
        start, kept = self.start(past_key_values, input_ids.shape[1]), []
        x = self.wte(input_ids) + self.wpe(torch.arange(start, start + input_ids.shape[1]).clamp(max=LONGEST - 1))
        for layer, attention in enumerate(self.attentions):
            past = None if past_key_values is None else past_key_values[layer]
            read, pair = attention(self.norms[2 * layer](x), past)
            x = x + read
            x = x + self.feedforwards[layer](self.norms[2 * layer + 1](x))
            kept.append(pair)
        return self.head(self.norms[-1](x)), kept if use_cache else None


@faulty("cache top-left aligned", report="C1")
def one_query_sees_the_first_key_only() -> Parts:
    class TopLeft(Cached):
        def seen(self, queries: int, keys: int, past: Past | None) -> Tensor | None:
            return torch.ones(queries, keys, dtype=torch.bool).tril()

    return decoder(CachedDecoder(TopLeft))


@faulty("cache top-left aligned", report="C1")
def kernel_called_causal_with_a_cache() -> Parts:
    class Kernel(Cached):
        def forward(self, x: Tensor, past: Past | None) -> tuple[Tensor, Past]:
            rows, length, _ = x.shape
            query, key, value = (
                each.view(rows, length, HEADS, WIDTH // HEADS).transpose(1, 2) for each in self.qkv(x).chunk(3, -1)
            )
            if past is not None:
                key, value = self.joined(key, value, past)
            read = F.scaled_dot_product_attention(query, key, value, is_causal=True)
            return self.out(read.transpose(1, 2).reshape(rows, length, WIDTH)), (key, value)

    return decoder(CachedDecoder(Kernel))


@faulty("prefill not causal", report="C2")
def mask_only_without_a_cache() -> Parts:
    class Prefilled(CachedDecoder):
        def forward(
            self, input_ids: Tensor, past_key_values: list[Past] | None = None, use_cache: bool = False
        ) -> tuple[Tensor, list[Past] | None]:
            for attention in self.attentions:
                attention.caching = use_cache
            return super().forward(input_ids, past_key_values, use_cache)

    class Open(Cached):
        caching = False

        def seen(self, queries: int, keys: int, past: Past | None) -> Tensor | None:
            return None if self.caching else super().seen(queries, keys, past)

    return decoder(Prefilled(Open))


@faulty("offset after prefill", report="C4")
def offset_grows_by_the_prompt_again() -> Parts:
    class Doubled(CachedDecoder):
        def start(self, past_key_values: list[Past] | None, length: int) -> int:
            return 2 * super().start(past_key_values, length)

    return decoder(Doubled())


@faulty("positions restart with the cache", "offset after prefill", report="C4")
def every_step_at_position_zero() -> Parts:
    class Zeroth(CachedDecoder):
        def start(self, past_key_values: list[Past] | None, length: int) -> int:
            return 0

    return decoder(Zeroth())


@faulty("offset after prefill", report="C4")
def offset_one_too_far() -> Parts:
    class Ahead(CachedDecoder):
        def start(self, past_key_values: list[Past] | None, length: int) -> int:
            start = super().start(past_key_values, length)
            return start + 1 if start else 0

    return decoder(Ahead())


@faulty("cache loses the past", report="C1")
def only_the_last_call_is_kept() -> Parts:
    class Forgetful(Cached):
        def joined(self, key: Tensor, value: Tensor, past: Past) -> Past:
            keep = slice(-key.shape[2], None)
            return torch.cat([past[0][:, :, keep], key], 2)[:, :, keep], torch.cat([past[1], value], 2)[:, :, keep]

    return decoder(CachedDecoder(Forgetful))


@faulty("cache order", "cache loses the past", report="C1")
def new_values_before_the_old() -> Parts:
    class Swapped(Cached):
        def joined(self, key: Tensor, value: Tensor, past: Past) -> Past:
            return torch.cat([past[0], key], 2), torch.cat([value, past[1]], 2)

    return decoder(CachedDecoder(Swapped))


@faulty("state between calls", report="C4")
def cache_inside_never_emptied() -> Parts:
    class Stateful(Attention):
        def __init__(self) -> None:
            super().__init__()
            self.kept: Tensor | None = None

        def forward(self, x: Tensor, memory: Tensor | None = None, padding: Tensor | None = None) -> Tensor:
            read = x if self.kept is None or len(self.kept) != len(x) else torch.cat([self.kept, x], 1)[:, -LONGEST:]
            self.kept = x.detach()
            query, key, value = self.split(self.query(x)), self.split(self.key(read)), self.split(self.value(read))
            return self.out(self.merge(self.attend(query, key, value, self.hidden(x.shape[1], read.shape[1]))))

    return decoder(Decoder(Stateful))


@faulty("prefix repeated", report="C4")
def generation_reads_the_prompt_at_every_step() -> Parts:
    def generate(model: nn.Module, ids: Tensor, max_new_tokens: int) -> Tensor:
        for _ in range(max_new_tokens):
            logits, _ = model(ids, use_cache=True)
            ids = torch.cat([ids, logits[:, -1:].argmax(-1)], 1)
        return ids

    return decoder(CachedDecoder(), generate=generate)


@faulty("offset after prefill", "generation differs from forward", report="C4")
def generation_tells_the_wrong_offset() -> Parts:
    class Told(CachedDecoder):
        def forward(
            self,
            input_ids: Tensor,
            past_key_values: list[Past] | None = None,
            use_cache: bool = False,
            offset: int | None = None,
        ) -> tuple[Tensor, list[Past] | None]:
            self.told = offset
            return super().forward(input_ids, past_key_values, use_cache)

        def start(self, past_key_values: list[Past] | None, length: int) -> int:
            return super().start(past_key_values, length) if self.told is None else self.told

    def generate(model: nn.Module, ids: Tensor, max_new_tokens: int) -> Tensor:
        offset, past, new = 0, None, ids
        for _ in range(max_new_tokens):
            logits, past = model(new, past_key_values=past, use_cache=True, offset=offset)
            offset += ids.shape[1]
            new = logits[:, -1:].argmax(-1)
            ids = torch.cat([ids, new], 1)
        return ids

    return decoder(Told(), generate=generate)


@faulty("positions not from mask", "padding mask without effect", report="B1")
def generation_shares_one_position_between_rows() -> Parts:
    class Shared(Decoder):
        def positions(self, input_ids: Tensor, attention_mask: Tensor | None) -> Tensor:
            return torch.arange(input_ids.shape[1])

    def generate(model: nn.Module, ids: Tensor, max_new_tokens: int, attention_mask: Tensor | None = None) -> Tensor:
        mask = torch.ones_like(ids) if attention_mask is None else attention_mask
        for _ in range(max_new_tokens):
            new = model(ids, mask)[:, -1:].argmax(-1)
            ids, mask = torch.cat([ids, new], 1), torch.cat([mask, torch.ones_like(new)], 1)
        return ids

    model = Shared()
    nn.init.normal_(model.places.weight)
    return decoder(model, generate=generate)
