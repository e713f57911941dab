"""What GGUF metadata needs before it reads like a config."""

from __future__ import annotations

import numpy as np

from clearformer.checkpoint.tensor_file import TensorFile


def decimal(number: float) -> float:
    """Numbers are stored as float32: the shortest decimal that rounds to one is the number that was meant."""
    with np.errstate(over="ignore"):
        single = np.float32(number)
    return float(str(single)) if float(single) == number else number


def rows_of(tensors: TensorFile, name: str) -> int:
    """How many rows a table has; 0 where its shape makes no table."""
    return (*tensors.shape(name), 0)[0]
