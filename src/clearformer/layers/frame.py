"""What all blocks of one forward pass share: where tokens stand, which are real, what may be seen, the memory.

Masks, rotations and distance penalties are made once a pass for each distinct choice, however many layers make it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from clearformer.layers.mask import Mask
from clearformer.layers.positions.distance_bias import DistanceBias
from clearformer.layers.positions.rotary import Rotation, rotation
from clearformer.spec import ALiBi, Full, Rotary, Visibility

Choice = TypeVar("Choice")
Made = TypeVar("Made")


@dataclass(frozen=True)
class Memory:
    """The encoder's output, and which of its positions are tokens (None: all)."""

    states: Float[Tensor, "B S D"]
    real: Bool[Tensor, "B S"] | None = None


@dataclass
class Frame:
    """One pass. `in_order` and `documents` as in `Mask`; `length_bound` is the declared length of each row, or of the
    document at each position (DynamicNTK, LongRoPE).

    `losses` collects the balance losses of a training pass; None throws them away.
    """

    query_positions: Int[Tensor, "#B T"]
    key_positions: Int[Tensor, "#B S"]
    key_real: Bool[Tensor, "#B S"] | None
    in_order: bool
    length_bound: Int[Tensor, " #B"] | Int[Tensor, "B T"]
    dtype: torch.dtype
    prefix: Int[Tensor, " B"] | None = None
    query_real: Bool[Tensor, "B T"] | None = None
    documents: Int[Tensor, "B T"] | None = None
    memory: Memory | None = None
    losses: list[Tensor] | None = None
    shared_bias: DistanceBias | None = None
    _masks: dict[Visibility, Mask] = field(default_factory=dict)
    _rotations: dict[tuple[Rotary, int], Rotation] = field(default_factory=dict)
    _penalties: dict[tuple[ALiBi, int], DistanceBias] = field(default_factory=dict)

    def mask(self, visibility: Visibility) -> Mask:
        """Who sees whom under this visibility."""
        return _once(
            self._masks,
            visibility,
            lambda: Mask(
                visibility,
                self.query_positions,
                self.key_positions,
                self.key_real,
                self.prefix,
                self.in_order,
                self.documents,
            ),
        )

    def memory_mask(self) -> Mask:
        """Cross-attention sees every real position of the memory."""
        assert self.memory is not None
        slots = torch.arange(self.memory.states.shape[1], device=self.query_positions.device)[None]
        return Mask(Full(), self.query_positions, slots, self.memory.real)

    def rotation(self, spec: Rotary, width: int) -> Rotation:
        return _once(
            self._rotations,
            (spec, width),
            lambda: rotation(spec, width, self.query_positions, self.length_bound, self.dtype),
        )

    def distance_penalty(self, spec: ALiBi, heads: int) -> DistanceBias:
        return _once(
            self._penalties,
            (spec, heads),
            lambda: DistanceBias(spec, heads, self.query_positions, self.key_positions, self.dtype),
        )


def _once(made: dict[Choice, Made], choice: Choice, make: Callable[[], Made]) -> Made:
    if choice not in made:
        made[choice] = make()
    return made[choice]
