"""Masks of every kind and heads to see through them, small enough for a table."""

from __future__ import annotations

import torch
from torch import Tensor

from clearformer.layers.mask import Mask
from clearformer.spec import Causal, Full, Visibility

VISIBILITIES: tuple[Visibility, ...] = (Full(), Full(2), Causal(), Causal(3), Causal(prefix=True), Causal(4, True))
PLACES = ("in order", "padded", "documents", "behind a cache")
B, S = 3, 11


def mask_of(visibility: Visibility, place: str) -> Mask:
    slots = torch.arange(S)[None]
    prefix = torch.tensor([0, 4, 7]) if isinstance(visibility, Causal) and visibility.prefix else None
    match place:
        case "padded":
            real = torch.ones(B, S, dtype=torch.bool)
            real[0, :4], real[1, 6:], real[2] = False, False, False
            positions = (real.cumsum(1) - 1).clamp(min=0)
            return Mask(visibility, positions, positions, real, prefix)
        case "documents":
            numbers = torch.tensor([[0] * 5 + [1] * 6, [0] * 11, [0] + [1] * 9 + [2]])
            return Mask(visibility, slots, slots, documents=numbers)
        case "behind a cache":
            return Mask(visibility, slots[:, 4:], slots, prefix=prefix, in_order=True)
        case _:
            return Mask(visibility, slots, slots, prefix=prefix, in_order=True)


def heads(*shapes: tuple[int, ...], dtype: torch.dtype = torch.float64, seed: int = 5) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=dtype).requires_grad_() for shape in shapes]
