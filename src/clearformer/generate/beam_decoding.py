"""Texts written by beam search: nothing is known of them before the search is over, then all of it.

It takes the place of `decode` where several beginnings are kept.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from clearformer.generate.beam import beam_search
from clearformer.generate.decode import Clock, Step, Token, pad_left
from clearformer.generate.draft import Draft
from clearformer.generate.reader import Reader


class BeamDecoding:
    """Writes drafts to their end, each as the best hypothesis of `width` beams; the interface is that of `Decoding`."""

    def __init__(
        self,
        reader: Reader,
        drafts: Sequence[Draft],
        *,
        ends: Collection[int],
        width: int,
        alpha: float,
        device: torch.device,
    ) -> None:
        self.clock = Clock()
        self._reader, self._drafts = _Timed(reader, self.clock), list(drafts)
        self._ends, self._width, self._alpha, self._device = ends, width, alpha, device

    def steps(self) -> Iterator[Step]:
        """Raises GenerationError where a model's logits hold NaN, MachineError where the beams' cache does not fit."""
        began = time.perf_counter()
        starts, real = pad_left([draft.prompt for draft in self._drafts], self._device)
        found = beam_search(
            self._reader,
            starts,
            real=real,
            ends=self._ends,
            width=self._width,
            alpha=self._alpha,
            limits=[draft.room for draft in self._drafts],
        )
        self.clock.decode = time.perf_counter() - began - self.clock.prefill
        texts = [hypotheses[0].tokens for hypotheses in found]
        for at in range(max(map(len, texts))):
            going = [(row, text[at]) for row, text in enumerate(texts) if at < len(text)]
            yield tuple(Token(row, token_id, self._drafts[row].accept(token_id)) for row, token_id in going)


class _Timed:
    """A reader whose first reading, that of the prompts, is timed."""

    def __init__(self, reader: Reader, clock: Clock) -> None:
        self._reader, self._clock = reader, clock

    @property
    def length(self) -> int:
        return self._reader.length

    def read(self, ids: Int[Tensor, "B T"], real: Bool[Tensor, "B T"] | None = None) -> Float[Tensor, "B V"]:
        if self._reader.length:
            return self._reader.read(ids, real)
        began = time.perf_counter()
        logits = self._reader.read(ids, real)
        self._clock.prefill = time.perf_counter() - began
        return logits

    def keep(self, rows: Int[Tensor, " rows"]) -> None:
        self._reader.keep(rows)
