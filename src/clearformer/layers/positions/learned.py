"""A trained row per position, added to the input."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from clearformer.errors import GenerationError
from clearformer.messages import layers as messages
from clearformer.spec import Learned as LearnedSpec


class Learned(nn.Module):
    """Row `offset` + position of a table; positions past the table are an error, not a wrap-around."""

    def __init__(self, width: int, spec: LearnedSpec) -> None:
        super().__init__()
        self.length = spec.length
        self.offset = spec.offset
        self.weight = nn.Parameter(torch.empty(spec.length + spec.offset, width))

    def forward(self, positions: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        return nn.functional.embedding(positions + self.offset, self.weight)

    def require_room(self, end: int) -> None:
        """Refuse a sequence whose last position would be `end` − 1."""
        if end > self.length:
            raise GenerationError(messages.PAST_LEARNED_POSITIONS, found=end, length=self.length)
