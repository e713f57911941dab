"""Other forms of attention, experts, slots of a buffer, and loops: each sound, and with one thing wrong."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from doctor.corpus.case import Parts, faulty, healthy
from doctor.corpus.hand_written import HEADS, LAYERS, LONGEST, VOCAB, WIDTH, Attention, Block
from doctor.corpus.loop_faults import Batches, looped
from doctor.corpus.loops import loss_of
from doctor.corpus.mixing_faults import Plain
from doctor.corpus.padding_faults import Encoder, encoder
from doctor.corpus.sight_faults import decoder

SIZE = WIDTH // HEADS


class Packed(nn.Module):
    """One projection, five axes."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)

    def cut(self, x: Tensor) -> tuple[Tensor, ...]:
        return self.qkv(x).reshape(*x.shape[:2], 3, HEADS, SIZE).permute(2, 0, 3, 1, 4).unbind(0)

    def read(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(query, key, value, is_causal=True)

    def joined(self, read: Tensor) -> Tensor:
        return read.transpose(1, 2).flatten(2)

    def forward(self, x: Tensor, padding: Tensor | None = None) -> Tensor:
        return self.out(self.joined(self.read(*self.cut(x))))


def variant(attention: type[nn.Module], block: type[nn.Module] = Block) -> Parts:
    return decoder(Plain(attention, block))


@faulty("heads split without transpose", "past unread", report="M9")
def heads_left_where_positions_belong() -> Parts:
    class Left(Packed):
        def cut(self, x: Tensor) -> tuple[Tensor, ...]:
            return self.qkv(x).reshape(*x.shape[:2], 3, HEADS, SIZE).unbind(2)

        def joined(self, read: Tensor) -> Tensor:
            return read.flatten(2)

    return variant(Left)


@faulty("heads merged without transpose", report="M8")
def heads_flattened_with_positions_inside() -> Parts:
    class Flattened(Packed):
        def joined(self, read: Tensor) -> Tensor:
            return read.reshape(read.shape[0], read.shape[2], WIDTH)

    return variant(Flattened)


@faulty("no causal mask", report="M6")
def window_to_both_sides() -> Parts:
    class Near(Attention):
        def hidden(self, queries: int, keys: int) -> Tensor:
            return (torch.arange(queries)[:, None] - torch.arange(keys)).abs() > 3

    return variant(Near)


@faulty("scale wrong", report="N1")
def queries_and_scores_both_scaled() -> Parts:
    class Twice(Attention):
        def scale(self, scores: Tensor, size: int) -> Tensor:
            return scores / size**0.5 / size**0.5

    return variant(Twice)


class Linear(Packed):
    """Attention without a softmax: sums of key times value, one more for each position."""

    def read(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        query, key = F.elu(query) + 1, F.elu(key) + 1
        sums = torch.einsum("bhtd,bhte->bhtde", key, value).cumsum(2)
        return torch.einsum("bhtd,bhtde->bhte", query, sums) / (query * key.cumsum(2)).sum(-1, keepdim=True)


class LinearBothWays(Packed):
    def __init__(self, causal: bool = False) -> None:
        super().__init__()

    def read(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        query, key = F.elu(query) + 1, F.elu(key) + 1
        sums = torch.einsum("bhtd,bhte->bhde", key, value)
        return torch.einsum("bhtd,bhde->bhte", query, sums) / (query * key.sum(2, keepdim=True)).sum(-1, keepdim=True)


@healthy
def linear_attention() -> Parts:
    return variant(Linear)


@healthy
def linear_attention_of_an_encoder() -> Parts:
    class Both(Encoder):
        def forward(self, input_ids: Tensor) -> Tensor:  # type: ignore[override]
            return super().forward(input_ids)

    return encoder(Both(LinearBothWays))  # type: ignore[arg-type]


@healthy
def decaying_attention() -> Parts:
    class Decaying(Packed):
        def read(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
            back = torch.arange(query.shape[2])[:, None] - torch.arange(query.shape[2])
            return (query @ key.mT * SIZE**-0.5 * 0.9 ** back.clamp(min=0) * (back >= 0)) @ value

    return variant(Decaying)


@healthy
def one_layer_with_a_window_that_is_not_declared() -> Parts:
    class Near(Attention):
        def hidden(self, queries: int, keys: int) -> Tensor:
            back = torch.arange(queries)[:, None] - torch.arange(keys)
            return (back < 0) | (back > 3)

    return decoder(Plain(Near, layers=1))


class Experts(Block):
    """Two experts, weighed by a router."""

    axis = -1

    def __init__(self, attention: nn.Module) -> None:
        super().__init__(attention)
        self.router = nn.Linear(WIDTH, 2, bias=False)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.SiLU()) for _ in range(2))

    def forward(self, x: Tensor, padding: Tensor | None = None) -> Tensor:
        x = super().forward(x, padding)
        tokens = x.reshape(-1, WIDTH)
        shares = self.router(tokens).softmax(self.axis)
        return x + sum(shares[:, [n]] * expert(tokens) for n, expert in enumerate(self.experts)).view(x.shape)


@healthy
def weighed_experts() -> Parts:
    return variant(Attention, Experts)


@faulty("rows depend on each other", "normalised over positions", report="M7")
def router_normalised_over_tokens() -> Parts:
    class OverTokens(Experts):
        axis = 0

    return variant(Attention, OverTokens)


class Slots(nn.Module):
    """A buffer for every layer, made beforehand and written from `start_pos` on."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCAB, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.layers = nn.ModuleList(Packed() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCAB, bias=False)
        for table in (self.tokens, self.places):
            nn.init.normal_(table.weight, std=0.2)

    def make_cache(self, rows: int, capacity: int) -> list[tuple[Tensor, ...]]:
        return [
            (torch.zeros(rows, HEADS, capacity, SIZE), torch.zeros(rows, HEADS, capacity, SIZE)) for _ in self.layers
        ]

    def slot(self, layer: int) -> int:
        return layer

    def end(self, written: int, capacity: int) -> int:
        return written

    def forward(self, tokens: Tensor, start_pos: int = 0, cache: list[tuple[Tensor, ...]] | None = None) -> Tensor:
        length = tokens.shape[1]
        x = self.tokens(tokens) + self.places(torch.arange(start_pos, start_pos + length))
        for number, layer in enumerate(self.layers):
            query, key, value = layer.cut(self.norm(x))
            if cache is not None:
                kept = cache[self.slot(number)]
                kept[0][:, :, start_pos : start_pos + length], kept[1][:, :, start_pos : start_pos + length] = (
                    key,
                    value,
                )
                end = self.end(start_pos + length, kept[0].shape[2]) if start_pos else length
                key, value = kept[0][:, :, :end], kept[1][:, :, :end]
            seen = torch.arange(key.shape[2]) <= torch.arange(start_pos, start_pos + length)[:, None]
            seen = seen | (torch.arange(key.shape[2]) >= start_pos + length)
            x = x + layer.out(layer.joined(F.scaled_dot_product_attention(query, key, value, attn_mask=seen)))
        return self.head(self.norm(x))


@faulty("cache holds other entries", report="C4")
def empty_slots_of_the_buffer_read() -> Parts:
    class Whole(Slots):
        def end(self, written: int, capacity: int) -> int:
            return capacity

    return decoder(Whole())


@faulty("cache holds other entries", "cache kept from before", report="C4")
def one_slot_for_all_layers() -> Parts:
    class One(Slots):
        def slot(self, layer: int) -> int:
            return 0

    return decoder(One())


@healthy
def buffer_made_beforehand() -> Parts:
    return decoder(Slots())


@faulty("dropout without effect", report="F4")
def dropout_made_and_never_called() -> Parts:
    model = Plain()
    model.dropout = nn.Dropout(0.1)
    return decoder(model)


@faulty("optimizer made anew", report="D7")
def optimizer_inside_the_loop() -> Parts:
    def train(model: nn.Module, batches: Batches) -> None:
        for batch in batches:
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
            optimizer.zero_grad()
            loss_of(model, batch).backward()
            optimizer.step()

    return looped(train)


def _warming(every: int) -> Parts:
    def train(model: nn.Module, batches: Batches, warmup_steps: int = 6) -> None:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min((step + 1) / warmup_steps, 1.0))
        for number, batch in enumerate(batches):
            optimizer.zero_grad()
            loss_of(model, batch).backward()
            optimizer.step()
            if (number + 1) % every == 0:
                scheduler.step()

    return looped(train)


@faulty("warm-up off its plan", report="D5")
def warm_up_counted_in_turns_of_four_updates() -> Parts:
    return _warming(4)


@healthy
def warm_up_counted_in_updates() -> Parts:
    return _warming(1)


@faulty("weights do not move", report="D6")
def loss_wrapped_in_a_new_tensor() -> Parts:
    def train(model: nn.Module, batches: Batches) -> None:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        for batch in batches:
            optimizer.zero_grad()
            torch.tensor(loss_of(model, batch).item(), requires_grad=True).backward()
            optimizer.step()

    return looped(train)
