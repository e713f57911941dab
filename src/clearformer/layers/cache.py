"""What attention asks of a cache. It appends and reads; it never advances the sequence.

The stack opens a step (`open`), every layer appends to its own part, and the step is closed (`advance`) when all have:
a pass that fails in the middle leaves the cache as it was.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from jaxtyping import Bool, Int
from torch import Tensor


@runtime_checkable  # The shape checks under test ask isinstance.
class LayerCache(Protocol):
    """One layer's memory of earlier positions."""

    memory: tuple[Tensor, Tensor] | None
    """Cross-attention's keys and values, B G S K and B G S U: the same at every step."""

    def append(self, *new: Tensor) -> tuple[Tensor, ...]:
        """Write the step's tensors (B heads T width) and return those of all positions so far (B heads S width)."""
        ...


@runtime_checkable
class Cache(Protocol):
    """A sequence's memory over all layers."""

    @property
    def length(self) -> int:
        """Slots in use."""
        ...

    @property
    def padded(self) -> bool:
        """True when some slot holds padding, so that positions differ from slots."""
        ...

    @property
    def counts(self) -> Int[Tensor, " B"]:
        """Real tokens so far, row by row."""
        ...

    @property
    def length_bound(self) -> Int[Tensor, " B"]:
        """The declared length of each sequence; DynamicNTK and LongRoPE choose one table by it."""
        ...

    def layer(self, index: int) -> LayerCache: ...

    def open(
        self, positions: Int[Tensor, "B T"], real: Bool[Tensor, "B T"] | None
    ) -> tuple[Int[Tensor, "B S"], Bool[Tensor, "B S"] | None]:
        """Note the step's positions and return those of every slot up to its end, and which of them are real."""
        ...

    def advance(self) -> None:
        """Close the step: its slots now belong to the sequence."""
        ...
