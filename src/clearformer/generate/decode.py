"""Prefill, then one token a step: schedule → run → postprocess.

Prompts of unequal length stand side by side, padded on the left; padding is hidden, so each gets what it would get
alone. A finished text leaves the batch. One number a row comes back from the device at each step, and no more.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from clearformer.errors import GenerationError
from clearformer.generate.draft import Draft
from clearformer.generate.reader import Reader
from clearformer.generate.sampling import Sampler
from clearformer.messages import generate as messages


@dataclass(frozen=True)
class Likely:
    """A token that could come next, and the logarithm of its probability before any filter."""

    id: int
    logprob: float


@dataclass(frozen=True)
class Token:
    """One new token: which text it continues, and the piece of text that it settles.

    `logprob` and `top` (likeliest first) are there when they were asked for.
    """

    row: int
    id: int
    piece: str
    logprob: float | None = None
    top: tuple[Likely, ...] = ()


Step = tuple[Token, ...]
"""The new tokens of all texts that still go on, in the order of the prompts."""


@dataclass
class Clock:
    """Seconds of computing: reading the prompts to the first token, and all later steps. The caller's are not in it."""

    prefill: float = 0.0
    decode: float = 0.0


class Decoding:
    """Writes drafts to their end. Drafts stay as they are when the caller stops between steps."""

    def __init__(
        self, reader: Reader, drafts: Sequence[Draft], sampler: Sampler, *, device: torch.device, top_logprobs: int = 0
    ) -> None:
        self.clock = Clock()
        self._reader, self._drafts, self._sampler = reader, list(drafts), sampler
        self._device, self._top = device, top_logprobs
        self._rows = list(range(len(drafts)))
        self._chosen: Int[Tensor, " B"] | None = None

    def steps(self) -> Iterator[Step]:
        """Raises GenerationError where a model's logits hold NaN."""
        while True:
            began = time.perf_counter()
            first = self._chosen is None
            feed = self._schedule()
            if feed is None:
                return
            step = self._postprocess(self._reader.read(*feed))
            seconds = time.perf_counter() - began
            if first:
                self.clock.prefill += seconds
            else:
                self.clock.decode += seconds
            yield step

    def _schedule(self) -> tuple[Int[Tensor, "B T"], Bool[Tensor, "B T"] | None] | None:
        """What the reader has not read yet; None when every draft has ended."""
        if self._chosen is None:
            # A reader that kept an earlier turn goes on from there.
            fresh = [draft.prompt[self._reader.length :] for draft in self._drafts]
            return pad_left(fresh, self._device)
        going = [at for at, row in enumerate(self._rows) if self._drafts[row].stop_reason is None]
        if not going:
            return None
        if len(going) < len(self._rows):
            index = torch.tensor(going, device=self._device)
            self._reader.keep(index)
            self._sampler.keep(going, index)
            self._rows = [self._rows[at] for at in going]
            self._chosen = self._chosen[index]
        return self._chosen[:, None], None

    @torch.inference_mode()
    def _postprocess(self, logits: Float[Tensor, "B V"]) -> Step:
        if self._chosen is None:
            self._sampler.watch([draft.prompt for draft in self._drafts], logits.shape[-1], self._device)
        self._chosen = self._sampler.choose(logits)
        likely = self._likely(logits, self._chosen)
        step = []
        for at, token_id in enumerate(self._chosen.tolist()):
            row = self._rows[at]
            if token_id < 0:
                raise GenerationError(messages.NOT_A_NUMBER, position=len(self._drafts[row].prompt))
            logprob, top = likely[at] if likely else (None, ())
            step.append(Token(row, token_id, self._drafts[row].accept(token_id), logprob, top))
        return tuple(step)

    def _likely(
        self, logits: Float[Tensor, "B V"], chosen: Int[Tensor, " B"]
    ) -> list[tuple[float, tuple[Likely, ...]]]:
        """The chosen token's log-probability and the likeliest tokens, row by row; nothing if none were asked for."""
        if not self._top:
            return []
        logprobs = logits.log_softmax(-1)
        own = logprobs.gather(1, chosen.clamp(min=0)[:, None])[:, 0].tolist()
        top = logprobs.topk(min(self._top, logprobs.shape[-1]))
        pairs = zip(top.indices.tolist(), top.values.tolist(), strict=True)
        likely = [tuple(Likely(i, value) for i, value in zip(*pair, strict=True)) for pair in pairs]
        return list(zip(own, likely, strict=True))


def pad_left(
    rows: Sequence[Sequence[int]], device: torch.device
) -> tuple[Int[Tensor, "B T"], Bool[Tensor, "B T"] | None]:
    """Rows side by side, their ends aligned, and which slots are tokens; None where all are."""
    longest = max(map(len, rows))
    ids = torch.tensor([[0] * (longest - len(row)) + list(row) for row in rows], device=device)
    if all(len(row) == longest for row in rows):
        return ids, None
    lengths = torch.tensor([len(row) for row in rows], device=device)
    return ids, torch.arange(longest, device=device) >= longest - lengths[:, None]
