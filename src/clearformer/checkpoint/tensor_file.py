"""What every file of weights offers, whatever its format: names, shapes and types at once, contents on demand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import torch

MAX_TENSORS = 100_000
# 2^48 numbers is far above any model and far below an overflow of 64-bit strides.
MAX_NUMBERS = 1 << 48


class TensorFile(Protocol):
    """Named tensors on disk. Each method that takes a name raises CheckpointError where there is no such tensor."""

    @property
    def path(self) -> Path: ...

    @property
    def metadata(self) -> Mapping[str, object]: ...

    def names(self) -> tuple[str, ...]: ...

    def shape(self, name: str) -> tuple[int, ...]: ...

    def dtype(self, name: str) -> torch.dtype:
        """The type that `tensor(name)` will have."""
        ...

    def tensor(self, name: str) -> torch.Tensor: ...


def possible_shape(shape: tuple[int, ...]) -> bool:
    """No negative size, and few enough numbers even when the zeros are left out: strides stay below 2^63."""
    count = 1
    for size in shape:
        if size < 0:
            return False
        count *= max(size, 1)
        if count > MAX_NUMBERS:
            return False
    return True
