"""Positions put together outside attention: norms, means, convolutions, shifts; and rotary turns of one side."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from doctor.corpus.case import Parts, enter, faulty, healthy
from doctor.corpus.hand_written import HEADS, WIDTH, Attention, Block, Decoder
from doctor.corpus.position_faults import Rotary, RotaryDecoder, angles, pairs_turned
from doctor.corpus.sight_faults import decoder

Mix = Callable[[Tensor], Tensor]


class Mixing(Block):
    """Something is done to what attention reads; the attention itself is sound."""

    def __init__(self, attention: nn.Module, mix: Mix = lambda x: x) -> None:
        super().__init__(attention)
        self.mix = mix

    def forward(self, x: Tensor, padding: Tensor | None = None) -> Tensor:
        x = x + self.attention(self.mix(self.norm1(x)), padding=padding)
        return x + self.feedforward(self.norm2(x))


class Plain(Decoder):
    """Takes no padding mask, so that what stands under it is nobody's matter."""

    def forward(self, input_ids: Tensor) -> Tensor:  # type: ignore[override]
        return super().forward(input_ids)


def mixing(make: Callable[[], Mix]) -> Parts:
    """A decoder of blocks that mix; one mixer, with weights or without, a block."""

    class Mixed(Mixing):
        def __init__(self, attention: nn.Module) -> None:
            super().__init__(attention, make())

    return decoder(Plain(block=Mixed))


class Kernel(nn.Module):
    """Three positions; `pad` on either side, and the rest cut off."""

    def __init__(self, before: int, behind: int) -> None:
        super().__init__()
        self.pad, self.conv = (before, behind), nn.Conv1d(WIDTH, WIDTH, 3)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.conv(F.pad(x.transpose(1, 2), self.pad)).transpose(1, 2)


class OverTime(nn.Module):
    """A norm of channels second, fed with (B D T)."""

    def __init__(self, norm: nn.Module) -> None:
        super().__init__()
        self.norm = norm

    def forward(self, x: Tensor) -> Tensor:
        normed: Tensor = self.norm(x.transpose(1, 2))
        return normed.transpose(1, 2)


def whole_norm(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[1:])


def standardised(x: Tensor) -> Tensor:
    return (x - x.mean(1, keepdim=True)) / (x.std(1, keepdim=True) + 1e-5)


OVER_POSITIONS: dict[str, Callable[[], Mix]] = {
    "layer norm over positions and features": lambda: whole_norm,
    "normalize along its default axis": lambda: lambda x: F.normalize(x) * math.sqrt(WIDTH),
    "standardised over the sequence": lambda: standardised,
    "group norm of channels and time": lambda: OverTime(nn.GroupNorm(4, WIDTH)),
    "mean of the sequence added": lambda: lambda x: x + x.mean(1).unsqueeze(1),
    "gate with a softmax over time": lambda: lambda x: x * x.softmax(1) * 8,
}
for _name, _make in OVER_POSITIONS.items():
    enter(_name, partial(mixing, _make), ("normalised over positions",), "M7")

READS_AHEAD: dict[str, Callable[[], Mix]] = {
    "convolution around its position": lambda: Kernel(1, 1),
    "tokens mixed with the next one": lambda: lambda x: 0.5 * x + 0.5 * F.pad(x, (0, 0, -1, 1)),
    "tokens rolled past the beginning": lambda: lambda x: 0.5 * x + 0.5 * x.roll(1, 1),
}
for _name, _make in READS_AHEAD.items():
    enter(_name, partial(mixing, _make), ("convolution reads ahead",), "M3")


@healthy
def convolution_before_its_position() -> Parts:
    return mixing(lambda: Kernel(2, 0))


@healthy
def tokens_mixed_with_the_one_before() -> Parts:
    return mixing(lambda: lambda x: 0.5 * x + 0.5 * F.pad(x, (0, 0, 1, -1)))


class Complex(Rotary):
    """Pairs as complex numbers, as in Llama's first code; which of the three is turned, and by what base."""

    sides = "qk"
    base = 10000.0

    def complex_turned(self, x: Tensor, base: float) -> Tensor:
        size = WIDTH // HEADS
        turn = torch.outer(torch.arange(x.shape[2]).float(), base ** (-torch.arange(0, size, 2) / size))
        pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * torch.polar(torch.ones_like(turn), turn)).flatten(-2)

    def attend(self, query: Tensor, key: Tensor, value: Tensor, hidden: Tensor | None) -> Tensor:
        query = self.complex_turned(query, 10000.0) if "q" in self.sides else query
        key = self.complex_turned(key, self.base) if "k" in self.sides else key
        value = self.complex_turned(value, 10000.0) if "v" in self.sides else value
        return super().attend(query, key, value, hidden)

    def turned(self, x: Tensor, positions: Tensor) -> Tensor:
        return x


class QueriesOnly(Complex):
    sides = "q"


class KeysOnly(Complex):
    sides = "k"


class ValuesToo(Complex):
    sides = "qkv"


class OtherBase(Complex):
    base = 500.0


class HalvesAndPairs(Rotary):
    """Queries are turned in halves, keys in pairs."""

    def forward(self, x: Tensor, padding: Tensor | None = None, positions: Tensor | None = None) -> Tensor:
        query, key, value = (self.split(each(x)) for each in (self.query, self.key, self.value))
        turn = angles(torch.arange(x.shape[1])).repeat_interleave(2, -1)
        key = key * turn.cos() + pairs_turned(key) * turn.sin()
        query = self.turned(query, torch.arange(x.shape[1]))
        return self.out(self.merge(self.attend(query, key, value, self.hidden(x.shape[1], x.shape[1]))))


def without_positions(attention: type[Attention]) -> Parts:
    """A decoder that takes no positions: what turns are made is to be seen inside."""

    class Bare(RotaryDecoder):
        def forward(self, input_ids: Tensor) -> Tensor:  # type: ignore[override]
            return super().forward(input_ids)

    return decoder(Bare(attention))


@faulty("rotary on one side", report="P2")
def queries_turned_alone() -> Parts:
    return without_positions(QueriesOnly)


@faulty("rotary on one side", report="P2")
def keys_turned_alone() -> Parts:
    return without_positions(KeysOnly)


@faulty("rotary on values", report="P2")
def values_turned_too() -> Parts:
    return without_positions(ValuesToo)


@faulty("rotary angles disagree", report="I1")
def another_base_for_the_keys() -> Parts:
    return without_positions(OtherBase)


@faulty("rotary angles disagree", "rotary layout", report="I1")
def queries_in_halves_and_keys_in_pairs() -> Parts:
    return without_positions(HalvesAndPairs)


@healthy
def complex_pairs_turned() -> Parts:
    return without_positions(Complex)
