"""K03: what a position does not see of what it should."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from doctor.checks.asking import causes
from doctor.corpus.hand_written import Attention, Block, Decoder
from doctor.corpus.padding_faults import Encoder, encoder
from doctor.corpus.sight_faults import decoder


class Alone(Attention):
    """Every position sees itself only."""

    def hidden(self, queries: int, keys: int) -> Tensor:
        return ~torch.eye(queries, keys, dtype=torch.bool)


class Repeating(Attention):
    """Every position's weights, which sum to one but for rounding, multiply its own value: bhqk,bqhd."""

    def attend(self, query: Tensor, key: Tensor, value: Tensor, hidden: Tensor | None) -> Tensor:
        scores = self.scale(query @ key.transpose(-2, -1), query.shape[-1])
        weights = self.weigh(scores if hidden is None else self.cover(scores, hidden))
        return torch.einsum("bhqk,bhqd->bhqd", weights, value)


class Causal(Encoder):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(Attention(causal=True)) for _ in range(2))


def test_a_position_that_sees_itself_only() -> None:
    assert causes("K03", **decoder(Decoder(Alone))) == ["ERROR past unread"]


def test_rounding_is_no_influence() -> None:
    assert causes("K03", **decoder(Decoder(Repeating))) == ["ERROR past unread"]


def test_an_encoder_with_a_causal_mask() -> None:
    assert causes("K03", **encoder(Causal())) == ["WARN encoder is causal"]


class Near(Attention):
    """A window of four that nobody declared."""

    def hidden(self, queries: int, keys: int) -> Tensor:
        behind = torch.arange(queries)[:, None] - torch.arange(keys)
        return (behind < 0) | (behind > 3)


class Prefix(Attention):
    """The first four positions see each other."""

    def hidden(self, queries: int, keys: int) -> Tensor:
        return (torch.arange(queries)[:, None] < torch.arange(keys)) & (torch.arange(keys) > 3)


class PrefixEncoder(Encoder):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(Prefix()) for _ in range(2))


def test_what_may_be_a_window_is_no_error() -> None:
    assert causes("K03", **decoder(Decoder(Near))) == ["INFO past unread"]


def test_a_prefix_that_sees_itself_is_no_causal_encoder() -> None:
    assert causes("K03", **encoder(PrefixEncoder())) == []


def test_sound_models() -> None:
    assert causes("K03", **decoder(Decoder())) == causes("K03", **encoder(Encoder())) == []


def test_a_forecaster_has_no_such_law() -> None:
    assert causes("K03", model=nn.Linear(4, 4), kind="forecaster") == ["-"]
