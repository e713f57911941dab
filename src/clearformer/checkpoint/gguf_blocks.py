"""Weights as GGUF stores them: plain numbers, or blocks of 32 with one scale (`quantize_row_q8_0_ref`, `…_q4_0_ref`).

Q8_0 spends 8.5 bits a weight and keeps round(w / d) of the scale d = max|w| / 127. Q4_0 spends 4.5 and keeps 16 steps
of d = w / −8, w the weight furthest from 0, so that this one is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from gguf.constants import GGMLQuantizationType
from torch import Tensor

from clearformer.errors import CheckpointError
from clearformer.messages import checkpoint as say

Kind = Literal["f32", "f16", "bf16", "q8_0", "q4_0"]
BLOCK = 32
# About this many numbers are turned at a time: a table of a gigabyte needs no second one beside it.
_NUMBERS_A_STEP = 1 << 22


@dataclass(frozen=True)
class Layout:
    """How a kind lies in the file: GGML's number for it, and `size` bytes for every `numbers` weights of a row."""

    number: GGMLQuantizationType
    numbers: int
    size: int

    def bytes_of(self, shape: tuple[int, ...]) -> int:
        count = int(np.prod(shape, dtype=np.int64))
        return count // self.numbers * self.size


LAYOUTS: dict[Kind, Layout] = {
    "f32": Layout(GGMLQuantizationType.F32, 1, 4),
    "f16": Layout(GGMLQuantizationType.F16, 1, 2),
    "bf16": Layout(GGMLQuantizationType.BF16, 1, 2),
    "q8_0": Layout(GGMLQuantizationType.Q8_0, BLOCK, 34),
    "q4_0": Layout(GGMLQuantizationType.Q4_0, BLOCK, 18),
}


def encode(name: str, tensor: Tensor, kind: Kind) -> Iterator[bytes]:
    """The bytes of a tensor, in order, piece by piece. Raises CheckpointError for a number too large for `kind`."""
    flat = tensor.detach().reshape(-1)
    for first in range(0, flat.numel(), _NUMBERS_A_STEP):
        part = flat[first : first + _NUMBERS_A_STEP]
        match kind:
            case "f32":
                yield part.to(torch.float32).numpy().tobytes()
            case "bf16":
                yield part.to(torch.bfloat16).view(torch.int16).numpy().tobytes()
            case "f16":
                yield _half(name, part).numpy().tobytes()
            case "q8_0" | "q4_0":
                blocks = part.to(torch.float32).numpy().reshape(-1, BLOCK)
                _require_finite(name, blocks, kind)
                yield (_q8_0 if kind == "q8_0" else _q4_0)(name, blocks).tobytes()


def _half(name: str, numbers: Tensor) -> Tensor:
    half = numbers.to(torch.float16)
    if bool((half.isinf() & ~numbers.isinf()).any()):
        largest = float(numbers[numbers.isfinite()].abs().max())
        raise CheckpointError(say.TOO_LARGE_FOR_KIND, name=name, found=f"{largest:g}", kind="f16", limit="65504")
    return half


def _require_finite(name: str, blocks: np.ndarray, kind: Kind) -> None:
    if not np.isfinite(blocks).all():
        raise CheckpointError(say.TOO_LARGE_FOR_KIND, name=name, found="inf or NaN", kind=kind, limit="65504")


def _q8_0(name: str, blocks: np.ndarray) -> np.ndarray:
    """N × 32 float32 → N × 34 bytes: the scale in float16, then 32 signed bytes."""
    scale = np.abs(blocks).max(axis=1, keepdims=True) / np.float32(127)
    scaled = blocks * _inverse(scale)
    # Halves go away from zero, as C's roundf has it; NumPy's own rint sends them to the even neighbour.
    whole = np.trunc(scaled)
    rounded = whole + np.where(np.abs(scaled - whole) >= np.float32(0.5), np.sign(scaled), np.float32(0))
    return np.concatenate([_stored(name, scale, "q8_0"), rounded.astype(np.int8).view(np.uint8)], axis=1)


def _q4_0(name: str, blocks: np.ndarray) -> np.ndarray:
    """N × 32 float32 → N × 18 bytes: the scale in float16, then 16 bytes, weight i low and weight i + 16 high."""
    furthest = np.take_along_axis(blocks, np.abs(blocks).argmax(axis=1, keepdims=True), axis=1)
    scale = furthest / np.float32(-8)
    steps = np.trunc(blocks * _inverse(scale) + np.float32(8.5))
    whole = steps.clip(0, 15).astype(np.uint8)
    low, high = whole[:, : BLOCK // 2], whole[:, BLOCK // 2 :]
    return np.concatenate([_stored(name, scale, "q4_0"), low | (high << 4)], axis=1)


def _inverse(scale: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.where(scale == 0, np.float32(0), np.float32(1) / scale)


def _stored(name: str, scale: np.ndarray, kind: Kind) -> np.ndarray:
    """The scale's two bytes. It is divided by before it is rounded, as in ggml."""
    with np.errstate(over="ignore"):
        half = scale.astype("<f2")
    if not np.isfinite(half).all():
        largest = float(np.abs(scale).max())
        raise CheckpointError(say.TOO_LARGE_FOR_KIND, name=name, found=f"{largest:g} (scale)", kind=kind, limit="65504")
    return half.view(np.uint8)
