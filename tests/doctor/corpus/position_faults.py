"""Positions: on the wrong axis, unused, in too few bits, in the wrong layout; and query groups taken the wrong way."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from doctor.corpus.case import Parts, faulty
from doctor.corpus.hand_written import HEADS, LONGEST, WIDTH, Attention, Decoder, EncoderDecoder
from doctor.corpus.sight_faults import decoder, translator

SIZE = WIDTH // HEADS


def angles(positions: Tensor, size: int = SIZE) -> Tensor:
    """`positions` [B, T] or [T] → angles [..., T, size / 2]."""
    return positions[..., None].float() * 10000.0 ** (-torch.arange(0, size, 2) / size)


def half_turned(x: Tensor) -> Tensor:
    first, second = x.chunk(2, -1)
    return torch.cat([-second, first], -1)


def pairs_turned(x: Tensor) -> Tensor:
    return torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2)


class Rotary(Attention):
    """Half-split rotary positions; `place` may be told."""

    def angles(self, positions: Tensor) -> Tensor:
        return torch.cat([angles(positions)] * 2, -1)

    def turned(self, x: Tensor, positions: Tensor) -> Tensor:
        turn = self.angles(positions)
        turn = turn if turn.ndim == 2 else turn[:, None]
        return x * turn.cos() + half_turned(x) * turn.sin()

    def forward(self, x: Tensor, padding: Tensor | None = None, positions: Tensor | None = None) -> Tensor:
        length = x.shape[1]
        positions = torch.arange(length) if positions is None else positions
        query, key, value = (self.split(each(x)) for each in (self.query, self.key, self.value))
        hidden = self.hidden(length, length)
        if padding is not None:
            hidden = hidden | ~padding.bool()[:, None, None, :]
        query, key = self.turned(query, positions), self.turned(key, positions)
        return self.out(self.merge(self.attend(query, key, value, hidden)))


class RotaryDecoder(Decoder):
    """No table of places; every attention turns its queries and keys."""

    def __init__(self, attention: type[nn.Module] = Rotary, layers: int = 2) -> None:
        super().__init__(attention, layers=layers)
        del self.places

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor | None = None, position_ids: Tensor | None = None
    ) -> Tensor:
        x = self.tokens(input_ids)
        if position_ids is None and attention_mask is not None:
            position_ids = (attention_mask.long().cumsum(-1) - 1).clamp(min=0)
        for block in self.blocks:
            x = x + block.attention(block.norm1(x), attention_mask, position_ids)
            x = x + block.feedforward(block.norm2(x))
        return self.head(self.norm(x))


@faulty("positions on the batch axis", report="P1")
def positions_broadcast_over_the_batch() -> Parts:
    class Rows(Decoder):
        def embed(self, input_ids: Tensor, attention_mask: Tensor | None) -> Tensor:
            return self.tokens(input_ids) + self.places.weight[: len(input_ids)].unsqueeze(1)

    model = Rows()
    nn.init.normal_(model.places.weight)
    return decoder(model)


@faulty("positions on the batch axis", report="P1")
def sines_laid_out_for_time_first() -> Parts:
    class Sines(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            turn = angles(torch.arange(LONGEST), WIDTH)
            self.register_buffer("table", torch.cat([turn.sin(), turn.cos()], -1).unsqueeze(1))

        def forward(self, x: Tensor) -> Tensor:
            return x + self.table[: x.size(0)]

    class TimeFirst(EncoderDecoder):
        def __init__(self) -> None:
            super().__init__()
            self.sines = Sines()

        def encode(self, src: Tensor, src_mask: Tensor | None = None) -> Tensor:
            x = self.sines(self.tokens(src))
            for block in self.encoder:
                x = block(x, src_mask)
            return self.encoded(x)

    model = TimeFirst()
    nn.init.normal_(model.tokens.weight)
    return translator(model)


@faulty("positions unused", report="P1")
def table_of_places_never_added() -> Parts:
    class Placeless(Decoder):
        def embed(self, input_ids: Tensor, attention_mask: Tensor | None) -> Tensor:
            return self.tokens(input_ids)

    return decoder(Placeless())


@faulty("positions unused", report="P1")
def every_token_at_position_zero() -> Parts:
    class Zeroth(Decoder):
        def positions(self, input_ids: Tensor, attention_mask: Tensor | None) -> Tensor:
            return torch.zeros_like(input_ids)

    return decoder(Zeroth(layers=1))


@faulty("rotary angles in low precision", report="P2")
def rotary_angles_in_half_the_bits() -> Parts:
    class Coarse(Rotary):
        def angles(self, positions: Tensor) -> Tensor:
            rates = (10000.0 ** (-torch.arange(0, SIZE, 2) / SIZE)).bfloat16()
            turn = positions[..., None].bfloat16() * rates
            return torch.cat([turn, turn], -1).float()

    return decoder(RotaryDecoder(Coarse))


@faulty("rotary layout", report="I1")
def angles_of_pairs_with_halves_turned() -> Parts:
    class Mixed(Rotary):
        def angles(self, positions: Tensor) -> Tensor:
            return angles(positions).repeat_interleave(2, -1)

    return decoder(RotaryDecoder(Mixed))


def _same_weights(mine: nn.Module, right: nn.Module) -> Parts:
    right.load_state_dict(mine.state_dict())
    return decoder(mine, reference=right)


@faulty("rotary layout", report="I1")
def weights_of_halves_in_a_model_of_pairs() -> Parts:
    class Pairs(Rotary):
        def turned(self, x: Tensor, positions: Tensor) -> Tensor:
            turn = angles(positions).repeat_interleave(2, -1)
            turn = turn if turn.ndim == 2 else turn[:, None]
            return x * turn.cos() + pairs_turned(x) * turn.sin()

    return _same_weights(RotaryDecoder(Pairs), RotaryDecoder())


class Grouped(Attention):
    """Two key heads for four query heads."""

    def __init__(self, width: int = WIDTH, heads: int = HEADS, causal: bool = True) -> None:
        super().__init__(width, heads, causal)
        self.key, self.value = nn.Linear(width, width // 2), nn.Linear(width, width // 2)

    def shared(self, x: Tensor) -> Tensor:
        return x.repeat_interleave(2, 1)

    def forward(self, x: Tensor, memory: Tensor | None = None, padding: Tensor | None = None) -> Tensor:
        rows, length, _ = x.shape
        query = self.split(self.query(x))
        key, value = (each(x).view(rows, length, HEADS // 2, SIZE).transpose(1, 2) for each in (self.key, self.value))
        hidden = self.hidden(length, length)
        if padding is not None:
            hidden = hidden | ~padding.bool()[:, None, None, :]
        return self.out(self.merge(self.attend(query, self.shared(key), self.shared(value), hidden)))


@faulty("query groups tiled", "query groups reduced", report="I7")
def key_heads_tiled_instead_of_repeated() -> Parts:
    class Tiled(Grouped):
        def shared(self, x: Tensor) -> Tensor:
            return x.repeat(1, 2, 1, 1)

    return _same_weights(Decoder(Tiled), Decoder(Grouped))


@faulty("query groups reduced", "query groups tiled", report="I7")
def queries_summed_over_their_group() -> Parts:
    class Reduced(Grouped):
        def forward(self, x: Tensor, memory: Tensor | None = None, padding: Tensor | None = None) -> Tensor:
            rows, length, _ = x.shape
            query = self.split(self.query(x)).view(rows, HEADS // 2, 2, length, SIZE).sum(2)
            key, value = (
                each(x).view(rows, length, HEADS // 2, SIZE).transpose(1, 2) for each in (self.key, self.value)
            )
            hidden = self.hidden(length, length)
            if padding is not None:
                hidden = hidden | ~padding.bool()[:, None, None, :]
            return self.out(self.merge(self.shared(self.attend(query, key, value, hidden))))

    return _same_weights(Decoder(Reduced), Decoder(Grouped))
