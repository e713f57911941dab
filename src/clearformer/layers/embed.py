"""What enters the stack: token rows, image patches, or series patches, each with its position."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from clearformer.errors import UsageError
from clearformer.layers.dropout import Dropout
from clearformer.layers.norm import make_norm
from clearformer.layers.positions.learned import Learned
from clearformer.layers.positions.sinusoidal import Sinusoidal
from clearformer.messages import layers as messages
from clearformer.spec import Input as InputSpec
from clearformer.spec import InputPosition, ReversibleNorm
from clearformer.spec import Learned as LearnedSpec
from clearformer.spec import Patches as PatchesSpec
from clearformer.spec import Series as SeriesSpec
from clearformer.spec import Sinusoidal as SinusoidalSpec
from clearformer.spec import Tokens as TokensSpec


class TokenEmbedding(nn.Module):
    """table[id] · scale + position + segment, then the norm."""

    def __init__(self, width: int, spec: TokensSpec) -> None:
        super().__init__()
        self.spec = spec
        self.token = _table(spec.vocabulary, width)
        self.position = make_position(width, spec.position)
        self.segment = _table(spec.segments, width) if spec.segments else None
        self.norm = make_norm(width, spec.norm)
        self.dropout = Dropout(spec.dropout)

    def forward(
        self, ids: Int[Tensor, "B T"], positions: Int[Tensor, "#B T"], segments: Int[Tensor, "B T"] | None = None
    ) -> Float[Tensor, "B T D"]:
        x = self.token(ids)
        if self.spec.scale != 1.0:
            x = x * (rounded(self.spec.scale, x) if self.spec.round_scale else self.spec.scale)
        x = add_position(x, self.position, positions)
        if self.segment is not None:
            x = x + self.segment(torch.zeros_like(ids) if segments is None else segments)
        return self.dropout(self.norm(x))


def _table(rows: int, width: int) -> nn.Embedding:
    """Not drawn yet. By default it would be, and on the meta device that imports torch's compiler: seconds a start."""
    return nn.Embedding.from_pretrained(torch.empty(rows, width), freeze=False)


def rounded(number: float, x: Tensor) -> Float[Tensor, ""]:
    """The number in x's type; a plain one would keep all its digits in a product with x."""
    return torch.full((), number, dtype=x.dtype, device=x.device)


def cut_image(image: Float[Tensor, "B C height width"], patch: int) -> Float[Tensor, "B T CPP"]:
    """Squares in reading order, each flattened channel by channel."""
    return functional.unfold(image, patch, stride=patch).transpose(1, 2)


class PatchEmbedding(nn.Module):
    """Squares of an image, projected (Dosovitskiy et al. 2020, arXiv 2010.11929)."""

    def __init__(self, width: int, spec: PatchesSpec) -> None:
        super().__init__()
        self.spec = spec
        self.project = nn.Linear(spec.channels * spec.patch**2, width, bias=spec.bias)
        self.class_token = nn.Parameter(torch.zeros(width)) if spec.class_token else None
        self.position = make_position(width, spec.position)
        self.norm = make_norm(width, spec.norm)
        self.dropout = Dropout(spec.dropout)

    def forward(self, image: Float[Tensor, "B C height width"]) -> Float[Tensor, "B T D"]:
        expected = (self.spec.channels, self.spec.height, self.spec.width)
        if tuple(image.shape[1:]) != expected:
            raise UsageError(messages.IMAGE_SHAPE, expected=expected, found=tuple(image.shape[1:]))
        x = self.project(cut_image(image, self.spec.patch))
        if self.class_token is not None:
            x = torch.cat((self.class_token.expand(x.shape[0], 1, -1), x), 1)
        x = add_position(x, self.position, torch.arange(x.shape[1], device=x.device)[None])
        return self.dropout(self.norm(x))


@dataclass(frozen=True)
class Level:
    """What reversible normalisation took away: to be restored on the forecast."""

    mean: Float[Tensor, "B 1 C"]
    deviation: Float[Tensor, "B 1 C"]


class Reversible(nn.Module):
    """Each channel's level over the window removed, and restored (Kim et al. 2022)."""

    def __init__(self, channels: int, spec: ReversibleNorm) -> None:
        super().__init__()
        self.eps = spec.eps
        self.weight = nn.Parameter(torch.ones(channels)) if spec.affine else None
        self.bias = nn.Parameter(torch.zeros(channels)) if spec.affine else None

    def forward(self, window: Float[Tensor, "B S C"]) -> tuple[Float[Tensor, "B S C"], Level]:
        mean = window.mean(1, keepdim=True)
        deviation = (window.var(1, keepdim=True, correction=0) + self.eps).sqrt()
        normed = (window - mean) / deviation
        if self.weight is not None and self.bias is not None:
            normed = normed * self.weight + self.bias
        return normed, Level(mean, deviation)

    def restore(self, forecast: Float[Tensor, "B T C"], level: Level) -> Float[Tensor, "B T C"]:
        if self.weight is not None and self.bias is not None:
            forecast = (forecast - self.bias) / self.weight
        return forecast * level.deviation + level.mean


def cut_series(window: Float[Tensor, "B S C"], patch: int, stride: int) -> Float[Tensor, "B T PC"]:
    """Patches of `patch` steps every `stride`, the last ending at the last step; flattened step by step."""
    steps = window.shape[1]
    window = window[:, (steps - patch) % stride :]
    return window.unfold(1, patch, stride).transpose(2, 3).flatten(2)


class SeriesEmbedding(nn.Module):
    """Patches of a real-valued series, projected (Nie et al. 2023, arXiv 2211.14730)."""

    def __init__(self, width: int, spec: SeriesSpec) -> None:
        super().__init__()
        self.spec = spec
        together = 1 if spec.independent else spec.channels
        self.project = nn.Linear(spec.patch * together, width, bias=spec.bias)
        self.position = make_position(width, spec.position)
        self.normalise = Reversible(spec.channels, spec.normalise) if spec.normalise else None
        self.dropout = Dropout(spec.dropout)

    def forward(self, window: Float[Tensor, "B S C"]) -> tuple[Float[Tensor, "rows T D"], Level | None]:
        """The embedded patches, one row a sequence (a channel, when independent), and the level removed."""
        if window.shape[2] != self.spec.channels or window.shape[1] < self.spec.patch:
            found = f"{window.shape[1]} × {window.shape[2]}"
            raise UsageError(messages.SERIES_SHAPE, channels=self.spec.channels, patch=self.spec.patch, found=found)
        level = None
        if self.normalise is not None:
            window, level = self.normalise(window)
        if self.spec.independent:
            window = window.transpose(1, 2).flatten(0, 1)[..., None]
        x = self.project(cut_series(window, self.spec.patch, self.spec.stride))
        x = add_position(x, self.position, torch.arange(x.shape[1], device=x.device)[None])
        return self.dropout(x), level


Embedding = TokenEmbedding | PatchEmbedding | SeriesEmbedding


def count_positions(real: Bool[Tensor, "B T"], before: Int[Tensor, " B"] | None = None) -> Int[Tensor, "B T"]:
    """A token's position is the number of tokens before it in its row; a pad's is clamped to 0 and never used."""
    counted = real.long().cumsum(1) - 1
    return (counted if before is None else counted + before[:, None]).clamp(min=0)


def add_position(x: Float[Tensor, "B T D"], position: nn.Module | None, positions: Int[Tensor, "#B T"]) -> Tensor:
    """x + PE(positions), where the spec has one."""
    return x if position is None else x + position(positions).to(x.dtype)


def make_position(width: int, spec: InputPosition | None) -> Sinusoidal | Learned | None:
    """The module that turns positions into vectors."""
    match spec:
        case None:
            return None
        case SinusoidalSpec():
            return Sinusoidal(width, spec)
        case LearnedSpec():
            return Learned(width, spec)


def make_embedding(width: int, spec: InputSpec) -> Embedding:
    """The embedding module of an input."""
    match spec:
        case TokensSpec():
            return TokenEmbedding(width, spec)
        case PatchesSpec():
            return PatchEmbedding(width, spec)
        case SeriesSpec():
            return SeriesEmbedding(width, spec)
