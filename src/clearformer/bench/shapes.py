"""What the training bench trains: sizes of a model, and batches for it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

PAD, _FIRST_WORD = 1, 4
ShapeName = Literal["char", "small", "translation"]


@dataclass(frozen=True)
class LanguageShape:
    """A decoder, and windows of one length."""

    layers: int
    heads: int
    width: int
    context: int
    batch: int
    vocabulary: int

    @property
    def tokens(self) -> int:
        """Tokens of a batch."""
        return self.batch * self.context

    def batches(self, count: int) -> list[tuple[Tensor, ...]]:
        """Inputs and targets, drawn."""
        generator = torch.Generator().manual_seed(0)
        size = (self.batch, self.context + 1)
        drawn = (torch.randint(self.vocabulary, size, generator=generator) for _ in range(count))
        return [(ids[:, :-1], ids[:, 1:]) for ids in drawn]


@dataclass(frozen=True)
class PairShape:
    """An encoder and a decoder over one vocabulary, and pairs of sentences of like length.

    As the Multi30k recipe has them: batches by length, so that little of them is padding, dropout on, smoothed loss.
    """

    layers: int
    heads: int
    width: int
    hidden: int
    pairs: int
    longest: int
    vocabulary: int
    dropout: float = 0.1
    smoothing: float = 0.1

    @property
    def tokens(self) -> int:
        """Source and target tokens of a batch, padding included."""
        return self.pairs * 2 * self.longest

    def batches(self, count: int) -> list[tuple[Tensor, ...]]:
        """As `PairBatch`: the target with its begin mark before the words that are predicted."""
        generator = torch.Generator().manual_seed(0)
        return [(*self._side(self.longest, generator), *self._side(self.longest + 1, generator)) for _ in range(count)]

    def _side(self, longest: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        lengths = torch.randint(longest - 2, longest + 1, (self.pairs, 1), generator=generator)
        # One of them is as long as it may be, so that each batch has the same shape.
        lengths[0] = longest
        real = torch.arange(longest) < lengths
        ids = torch.randint(_FIRST_WORD, self.vocabulary, (self.pairs, longest), generator=generator)
        return ids.masked_fill(~real, PAD), real


Shape = LanguageShape | PairShape

SHAPES: dict[ShapeName, Shape] = {
    # nanoGPT's CPU setting for tinyshakespeare, a small model of today's size, and the Multi30k recipe.
    "char": LanguageShape(layers=4, heads=4, width=128, context=64, batch=12, vocabulary=65),
    "small": LanguageShape(layers=6, heads=6, width=384, context=256, batch=16, vocabulary=8192),
    "translation": PairShape(layers=3, heads=4, width=256, hidden=1024, pairs=128, longest=16, vocabulary=8000),
}


def initial_loss(shape: Shape) -> float:
    """The loss of a model that knows nothing: a peer that is set up wrongly starts far from it."""
    return math.log(shape.vocabulary)
