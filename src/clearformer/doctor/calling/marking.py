"""A mask in our form, True for what is real or seen, turned into the form that a module takes."""

from __future__ import annotations

import torch
from torch import Tensor

from clearformer.doctor.calling.call import Mask

NUMBERS = {"bool": torch.bool, "int": torch.int64, "float": torch.float32}


def marked(mask: Mask | None, real: Tensor, dtype: torch.dtype) -> dict[str, Tensor]:
    """The argument with its value; nothing where the module takes no such mask."""
    if mask is None:
        return {}
    match mask.marking:
        case "count":
            return {mask.name: real.sum(-1)}
        case "add":
            told = torch.zeros(real.shape, dtype=dtype, device=real.device).masked_fill(~real, float("-inf"))
        case "keep" | "hide":
            told = (real if mask.marking == "keep" else ~real).to(NUMBERS[mask.number])
    return {mask.name: shaped(told, mask.shape)}


def shaped(mask: Tensor, shape: str) -> Tensor:
    """A padding mask (B T) or a table (T T or B T T) with the axes of length one that `shape` names."""
    axes = shape.split()
    if axes[-2:] == ["T", "T"] and mask.ndim == 2:
        return mask[(None,) * (len(axes) - 2)]
    while mask.ndim < len(axes):
        mask = mask.unsqueeze(1)
    return mask


def causal(length: int, device: torch.device) -> Tensor:
    """Who sees whom (T T): True where the key is not after the query."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()
