"""A module that can be asked: inputs in our form go in, the answer per position comes out, whatever its signature."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.doctor.calling.call import Call, Mask
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

    @property
    def dtype(self) -> torch.dtype:
        return next((p.dtype for p in self.module.parameters() if p.is_floating_point()), torch.float32)

    @property
    def device(self) -> torch.device:
        return next((p.device for p in self.module.parameters()), torch.device("cpu"))

    def length(self, wished: int) -> int:
        """As many positions as wished, as far as the context allows."""
        return min(wished, LONGEST, self.context or LONGEST)

    def inputs(self, rows: int, length: int, generator: torch.Generator) -> Tensor:
        """Random inputs: ids (B T), or vectors (B T width). Ids 0 to 3 are left to special tokens if there is room."""
        if self.call.takes != "ids":
            return torch.randn(rows, length, self.width, generator=generator).to(self.device, self.dtype)
        first = 4 if self.vocab_size > 8 else 0
        return torch.randint(first, self.vocab_size, (rows, length), generator=generator).to(self.device)

    def replaced(self, inputs: Tensor, at: int | slice, generator: torch.Generator) -> Tensor:
        """The inputs with other content at some positions: every replaced id differs from the one that stood there."""
        fresh = inputs.clone()
        if self.call.takes != "ids":
            fresh[:, at] = torch.randn(fresh[:, at].shape, generator=generator).to(fresh) * inputs.std() + inputs.mean()
            return fresh
        first = 4 if self.vocab_size > 8 else 0
        kinds = self.vocab_size - first
        step = torch.randint(1, kinds, fresh[:, at].shape, generator=generator).to(fresh)
        fresh[:, at] = first + (fresh[:, at] - first + step) % kinds
        return fresh

    def answer(
        self,
        inputs: Tensor,
        *,
        mask: Tensor | None = None,
        positions: Tensor | None = None,
        source: Tensor | None = None,
        source_mask: Tensor | None = None,
        gradient: bool = False,
        **more: Any,
    ) -> Tensor:
        """Logits (B T V), or what the module gives per position.

        An encoder-decoder without a `source` reads one of its own, the same each time. `more` goes to the module as is.
        """
        with torch.set_grad_enabled(gradient):
            return self._positionwise(self.output(inputs, mask, positions, source, source_mask, **more))

    def output(
        self,
        inputs: Tensor,
        mask: Tensor | None = None,
        positions: Tensor | None = None,
        source: Tensor | None = None,
        source_mask: Tensor | None = None,
        **more: Any,
    ) -> Any:
        """What the module itself gives back, cache and all."""
        call, named = self.call, dict(self.call.fixed)
        if call.source is not None:
            source = self.own_source(len(inputs)) if source is None else source
            named[call.source] = self._turned(source)
        if call.main is not None:
            named[call.main] = self._turned(inputs)
        if mask is not None:
            named.update(_marked(call.padding, mask, self.dtype))
        if source_mask is not None:
            named.update(_marked(call.source_padding, source_mask, self.dtype))
            named.update(_marked(call.memory_padding, source_mask, self.dtype))
        if call.seeing is not None:
            named.update(_marked(call.seeing, causal(inputs.shape[1], inputs.device), self.dtype))
        if positions is not None and call.positions is not None:
            named[call.positions] = self._turned(positions)
        placed = [self._turned(inputs)] if call.main is None else []
        return self.module(*placed, **(named | more))

    def own_source(self, rows: int) -> Tensor:
        """A fixed source, one row for all."""
        return self.inputs(1, self.length(12), torch.Generator().manual_seed(7)).expand(rows, -1).contiguous()

    def _turned(self, tensor: Tensor) -> Tensor:
        return tensor if self.call.batch_first else tensor.transpose(0, 1)

    def _positionwise(self, output: Any) -> Tensor:
        return self._turned(reached(output, self.call.output))


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


def causal(length: int, device: torch.device) -> Tensor:
    """Who sees whom (T T): True where the key is not after the query."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


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


def _marked(mask: Mask | None, real: Tensor, dtype: torch.dtype) -> dict[str, Tensor]:
    if mask is None:
        return {}
    match mask.marking:
        case "keep":
            told = real
        case "hide":
            told = ~real
        case "add":
            told = torch.zeros(real.shape, dtype=dtype, device=real.device).masked_fill(~real, float("-inf"))
    if mask.shape == "B 1 T T" and told.ndim == 2:
        told = told[None, None]
    return {mask.name: told}
