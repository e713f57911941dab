"""Rows of unequal length side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor


def padded(rows: Sequence[Sequence[int] | np.ndarray], pad: int) -> tuple[Int[Tensor, "B T"], Bool[Tensor, "B T"]]:
    """Rows of ids side by side, padded on the right, and which places are real."""
    lengths = torch.tensor([len(row) for row in rows])
    ids = torch.full((len(rows), int(lengths.max())), pad)
    for row, text in zip(ids, rows, strict=True):
        row[: len(text)] = torch.as_tensor(text, dtype=ids.dtype)
    return ids, torch.arange(ids.shape[1]) < lengths[:, None]
