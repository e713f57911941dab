"""A module that can be asked: inputs in our form go in, the answer per position comes out, whatever its signature."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.doctor.calling.call import Call, Takes
from clearformer.doctor.calling.handing import handed
from clearformer.doctor.calling.marking import causal, marked
from clearformer.doctor.parts import Kind

LONGEST = 64
"""Tokens that a probe uses at most: every law of these checks shows itself within as many."""


@dataclass(frozen=True)
class Subject:
    """`answer` and its inputs are always batch first; masks are boolean with True for a real token."""

    module: nn.Module
    kind: Kind
    call: Call
    vocab_size: int
    width: int = 0
    """Features of a position, for a module that takes vectors or a series instead of ids."""
    context: int | None = None
    source_vocab_size: int = 0
    """Where it is not the target's; 0 where it is."""
    only_length: int | None = None
    """The one length that the module takes, where it takes no other."""
    lengths: tuple[int, ...] = ()
    """The lengths that it takes, in order, where it refuses others up to its context."""
    raised: Exception | None = None
    """What the module raised under the call that fits its signature best, where no call got an answer."""

    @property
    def dtype(self) -> torch.dtype:
        return next((p.dtype for p in self.module.parameters() if p.is_floating_point()), torch.float32)

    @property
    def device(self) -> torch.device:
        return next((p.device for p in self.module.parameters()), torch.device("cpu"))

    @property
    def per_position(self) -> bool:
        """Whether an answer has a place for each position; otherwise it is (B 1 …), the last one or the whole row's."""
        return self.call.answers in ("positions", "channels", "flat")

    @property
    def takes_mask(self) -> bool:
        """Whether padding can be told to it."""
        return self.call.padding is not None or self._sees_by_row

    @property
    def _sees_by_row(self) -> bool:
        return self.call.seeing is not None and self.call.seeing.shape.startswith("B")

    def length(self, wished: int) -> int:
        """As many positions as wished, as far as the context allows; the next length that the module takes."""
        if self.only_length is not None:
            return self.only_length
        wished = min(wished, LONGEST, self.context or LONGEST)
        return next((each for each in self.lengths if each >= wished), self.lengths[-1]) if self.lengths else wished

    def shorter(self, wished: int) -> int | None:
        """The longest that the module takes of the lengths up to this one."""
        return max((each for each in self.lengths if each <= wished), default=None) if self.lengths else wished

    def inputs(self, rows: int, length: int, generator: torch.Generator) -> Tensor:
        """Random inputs: ids (B T), or vectors (B T width). Ids 0 to 3 are left to special tokens if there is room."""
        return self._drawn(self.call.takes, self.vocab_size, rows, length, generator)

    def sources(self, rows: int, length: int, generator: torch.Generator) -> Tensor:
        """Random sources for an encoder-decoder."""
        return self._drawn(
            self.call.source_takes, self.source_vocab_size or self.vocab_size, rows, length, generator
        )  # fmt: skip

    def _drawn(self, takes: Takes, vocab_size: int, rows: int, length: int, generator: torch.Generator) -> Tensor:
        if takes != "ids":
            return torch.randn(rows, length, self.width, generator=generator).to(self.device, self.dtype)
        first = 4 if vocab_size > 8 else 0
        return torch.randint(first, vocab_size, (rows, length), generator=generator).to(self.device)

    def replaced(self, inputs: Tensor, at: int | slice | Tensor, generator: torch.Generator) -> Tensor:
        """The inputs with other content at some positions: every replaced id differs from the one that stood there.

        `at` is a position, a slice of positions, or a boolean table (B T). Sources are replaced in the same way.
        """
        fresh = inputs.clone()
        place = at if isinstance(at, Tensor) else (slice(None), at)
        old = fresh[place]
        if inputs.is_floating_point():
            fresh[place] = torch.randn(old.shape, generator=generator).to(fresh) * inputs.std() + inputs.mean()
            return fresh
        vocab_size = min(self.vocab_size, self.source_vocab_size or self.vocab_size)
        first = 4 if vocab_size > 8 else 0
        kinds = vocab_size - first
        step = torch.randint(1, kinds, old.shape, generator=generator).to(fresh)
        fresh[place] = first + (old - first + step) % kinds
        return fresh

    def answer(
        self,
        inputs: Tensor,
        *,
        mask: Tensor | None = None,
        positions: Tensor | None = None,
        source: Tensor | None = None,
        source_mask: Tensor | None = None,
        documents: Tensor | None = None,
        gradient: bool = False,
        **more: Any,
    ) -> Tensor:
        """Logits (B T V), or what the module gives per position.

        An encoder-decoder without a `source` reads one of its own, the same each time. `more` goes to the module as is.
        """
        with torch.set_grad_enabled(gradient):
            output = self.output(inputs, mask, positions, source, source_mask, documents, **more)
            return self.located(output, inputs)

    def output(
        self,
        inputs: Tensor,
        mask: Tensor | None = None,
        positions: Tensor | None = None,
        source: Tensor | None = None,
        source_mask: Tensor | None = None,
        documents: Tensor | None = None,
        **more: Any,
    ) -> Any:
        """What the module itself gives back, cache and all."""
        call = self.call
        mask, positions, documents = self._filled(inputs, mask, positions, documents)
        named: dict[str, object] = dict(call.fixed)
        if call.source is not None:
            source = self.own_source(len(inputs)) if source is None else source
            named[call.source] = self._turned(source)
            if source_mask is None and {mask.name for mask in call.source_masks} & call.needed:
                source_mask = torch.ones(source.shape[:2], dtype=torch.bool, device=source.device)
        if call.main is not None:
            named[call.main] = self._turned(inputs)
        if mask is not None:
            named.update(marked(call.padding, mask, self.dtype))
        if source_mask is not None:
            for each in call.source_masks:
                named.update(marked(each, source_mask, self.dtype))
        if call.seeing is not None and call.seeing.name not in more:
            named.update(marked(call.seeing, self._seen(inputs, mask), self.dtype))
        if positions is not None and call.positions is not None:
            named[call.positions] = self._turned(positions)
        if documents is not None and call.documents is not None:
            named[call.documents] = self._turned(documents)
        if call.labels is not None:
            named[call.labels] = self._turned(inputs)
        placed = [self._turned(inputs)] if call.main is None else []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the module's own, of which the probes would repeat each a hundred times
            if call.packed is not None:
                return self.module(handed(named | more))
            return self.module(*placed, **(named | more))

    def _filled(
        self, inputs: Tensor, mask: Tensor | None, positions: Tensor | None, documents: Tensor | None
    ) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        """What the module cannot be called without, where the probe leaves it open."""
        call, (rows, length) = self.call, inputs.shape[:2]
        if mask is None and call.padding is not None and call.padding.name in call.needed:
            mask = torch.ones(rows, length, dtype=torch.bool, device=inputs.device)
        if positions is None and call.positions in call.needed:
            positions = torch.arange(length, device=inputs.device).expand(rows, length)
        if documents is None and call.documents in call.needed:
            documents = torch.zeros(rows, length, dtype=torch.long, device=inputs.device)
        return mask, positions, documents

    def own_source(self, rows: int) -> Tensor:
        """A fixed source, one row for all."""
        one = self.sources(1, self.length(12), torch.Generator().manual_seed(7))
        return one.expand(rows, *one.shape[1:]).contiguous()

    def _seen(self, inputs: Tensor, mask: Tensor | None) -> Tensor:
        """The table of who sees whom, with padding in it where that is the only way to say it."""
        length = inputs.shape[1]
        table = causal(length, inputs.device)
        if self.kind == "encoder":
            table = torch.ones_like(table)
        if not self._sees_by_row:
            return table
        rows = table.expand(len(inputs), length, length)
        if mask is None or self.call.padding is not None:
            return rows
        # A padded query keeps itself: an empty row is not this table's doing.
        return (rows & mask[:, None, :]) | torch.eye(length, dtype=torch.bool, device=mask.device)

    def _turned(self, tensor: Tensor) -> Tensor:
        """Batch first or not, and laid out as a loader hands it over: a probe's slice is not the module's fault."""
        return (tensor if self.call.batch_first else tensor.transpose(0, 1)).contiguous()

    def located(self, output: Any, inputs: Tensor) -> Tensor:
        """The answer inside an output, batch first, with an axis of positions."""
        found = reached(output, self.call.output)
        rows, length = inputs.shape[:2]
        match self.call.answers:
            case "flat":
                shape = (rows, length) if self.call.batch_first else (length, rows)
                return self._turned(found.view(*shape, *found.shape[1:]))
            case "whole" | "last":
                return found.reshape(rows, 1, -1)
            case "positions":
                return self._turned(found)
            case "channels":
                return found.transpose(1, 2)


def reached(output: Any, where: str | int | None) -> Tensor:
    """The answer inside an output."""
    if where is None:
        found = output
    elif isinstance(where, int) or isinstance(output, dict):
        found = output[where]
    else:
        found = getattr(output, where)
    assert isinstance(found, Tensor)
    return found


@contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """The module in evaluation mode, and each submodule's own mode back afterwards."""
    modes = {each: each.training for each in module.modules()}
    module.eval()
    try:
        yield
    finally:
        for each, training in modes.items():
            each.training = training
