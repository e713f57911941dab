"""The ids of texts in each epoch: always the same, or with their words spelt anew by BPE-dropout."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import numpy as np
from jaxtyping import Int

from clearformer.data.batches import randomness
from clearformer.text.bpe_dropout import BpeDropout

SPELLINGS = 16


class Spelt(Protocol):
    """Texts as ids."""

    def epoch(self, number: int) -> Sequence[Sequence[int]]:
        """Each text's ids in that epoch, the same at every call."""

    def longest(self) -> Int[np.ndarray, " texts"]:
        """The most tokens that each text has in any epoch."""


@dataclass(frozen=True)
class Fixed:
    """Texts that are spelt alike in every epoch."""

    ids: Sequence[Sequence[int]]

    def epoch(self, number: int) -> Sequence[Sequence[int]]:
        return self.ids

    def longest(self) -> Int[np.ndarray, " texts"]:
        return np.array([len(ids) for ids in self.ids])


class Respelt:
    """Texts whose words are spelt otherwise from epoch to epoch; the marks `before` and `after` them stay.

    Each word has SPELLINGS spellings, drawn once; an epoch takes one of them for each place where the word stands.
    """

    def __init__(
        self,
        texts: Sequence[str],
        dropout: BpeDropout,
        *,
        before: Sequence[int] = (),
        after: Sequence[int] = (),
        seed: int,
    ) -> None:
        self._before, self._after, self._seed = tuple(before), tuple(after), seed
        words = [dropout.words(text) for text in texts]
        number = {word: at for at, word in enumerate(sorted(set(chain.from_iterable(words))))}
        draw = random.Random(seed)
        self._spellings = [[dropout.spell(word, draw) for _ in range(SPELLINGS)] for word in number]
        self._words = [[number[word] for word in text] for text in words]

    def epoch(self, number: int) -> list[list[int]]:
        drawn = randomness(self._seed, number, 2)
        chosen = iter(drawn.integers(SPELLINGS, size=sum(map(len, self._words))).tolist())
        spellings = self._spellings
        return [
            [*self._before, *chain.from_iterable(spellings[w][next(chosen)] for w in words), *self._after]
            for words in self._words
        ]

    def longest(self) -> Int[np.ndarray, " texts"]:
        most = [max(map(len, spellings)) for spellings in self._spellings]
        marks = len(self._before) + len(self._after)
        return np.array([marks + sum(most[word] for word in words) for words in self._words])
