"""A preallocated cache: every tensor has its full length from the start, and a step writes in place.

Slots count what was fed, padding included; positions count tokens. A row's padding is remembered as not real and stays
hidden, so prompts of unequal length share one cache, whichever side they are padded on.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from clearformer.errors import GenerationError
from clearformer.messages import layers as messages
from clearformer.spec import AnyAttention, Attention, LatentAttention, Stack


def slot_shapes(attention: AnyAttention) -> tuple[tuple[int, int], ...]:
    """What one layer keeps a token, as (heads, width): G·K and G·U numbers, or Z and R for latent attention."""
    match attention:
        case Attention():
            return (attention.kv_heads, attention.key_width), (attention.kv_heads, attention.value_width)
        case LatentAttention():
            return (1, attention.kv_rank), (1, attention.rotary_width)


def cache_bytes(stack: Stack, batch: int, capacity: int, dtype: torch.dtype) -> int:
    """Memory of keys and values for `capacity` slots of `batch` rows, cross-attention's not counted."""
    slot = sum(heads * width for block in stack.blocks for heads, width in slot_shapes(block.attention))
    return batch * capacity * slot * dtype.itemsize


class StaticLayer:
    """One layer's tensors, B heads capacity width each."""

    def __init__(self, cache: StaticCache, tensors: tuple[Tensor, ...]) -> None:
        self._cache = cache
        self.tensors = tensors
        self.memory: tuple[Tensor, Tensor] | None = None

    def append(self, *new: Tensor) -> tuple[Tensor, ...]:
        start, end = self._cache.length, self._cache.end
        for kept, fresh in zip(self.tensors, new, strict=True):
            kept.narrow(2, start, end - start).copy_(fresh)
        return tuple(kept.narrow(2, 0, end) for kept in self.tensors)


class StaticCache:
    """A sequence's keys and values over all layers of a stack, for `capacity` slots of `batch` rows."""

    def __init__(
        self,
        stack: Stack,
        *,
        batch: int,
        capacity: int,
        dtype: torch.dtype,
        device: torch.device | str = "cpu",
        length_bound: Int[Tensor, " B"] | None = None,
    ) -> None:
        self.capacity = capacity
        self.length = 0
        self.end = 0
        self.padded = False
        self._step_padded = False
        self.length_bound = torch.full((batch,), capacity, device=device) if length_bound is None else length_bound
        self.counts = torch.zeros(batch, dtype=torch.long, device=device)
        self._positions = torch.zeros(batch, capacity, dtype=torch.long, device=device)
        self._real = torch.ones(batch, capacity, dtype=torch.bool, device=device)
        self._layers = [
            StaticLayer(
                self,
                tuple(
                    torch.zeros(batch, heads, capacity, width, dtype=dtype, device=device)
                    for heads, width in slot_shapes(block.attention)
                ),
            )
            for block in stack.blocks
        ]

    def layer(self, index: int) -> StaticLayer:
        return self._layers[index]

    def open(
        self, positions: Int[Tensor, "#B T"], real: Bool[Tensor, "B T"] | None
    ) -> tuple[Int[Tensor, "#B S"], Bool[Tensor, "B S"] | None]:
        self.end = self.length + positions.shape[1]
        if self.end > self.capacity:
            raise GenerationError(messages.CACHE_FULL, capacity=self.capacity, wanted=self.end)
        self._positions[:, self.length : self.end] = positions
        self._real[:, self.length : self.end] = True if real is None else real
        self._step_padded = real is not None and not bool(real.all())
        if real is None and not self.padded:
            return torch.arange(self.end, device=positions.device)[None], None
        return self._positions[:, : self.end], self._real[:, : self.end]

    def advance(self) -> None:
        fresh = self._real[:, self.length : self.end]
        self.padded = self.padded or self._step_padded
        self.counts = self.counts + fresh.sum(1)
        self.length = self.end

    def keep(self, rows: Int[Tensor, " rows"]) -> None:
        """Go on with these rows, in this order: beams that survive, or sequences that are not finished."""
        for layer in self._layers:
            layer.tensors = tuple(self._reordered(kept, rows) for kept in layer.tensors)
            if layer.memory is not None:
                layer.memory = (layer.memory[0][rows], layer.memory[1][rows])
        self.counts, self.length_bound = self.counts[rows], self.length_bound[rows]
        self._positions, self._real = self._positions[rows], self._real[rows]

    def _reordered(self, kept: Tensor, rows: Int[Tensor, " rows"]) -> Tensor:
        """The filled slots of these rows, in place where they fit: most slots are still empty when beams change."""
        filled = kept.narrow(2, 0, self.length)[rows]
        if len(rows) > len(kept):
            kept = kept.new_zeros(len(rows), *kept.shape[1:])
        kept = kept.narrow(0, 0, len(rows))
        kept.narrow(2, 0, self.length).copy_(filled)
        return kept
