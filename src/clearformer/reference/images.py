"""An image as a sequence of patches (Dosovitskiy et al. 2020, arXiv 2010.11929)."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from clearformer.spec import Patches


def cut(spec: Patches, image: Float[np.ndarray, "B C height width"]) -> Float[np.ndarray, "B N P"]:
    """Squares in reading order, each flattened by channel, row, column."""
    batch, side = len(image), spec.patch
    rows, columns = spec.height // side, spec.width // side
    grid = image.reshape(batch, spec.channels, rows, side, columns, side)
    return grid.transpose(0, 2, 4, 1, 3, 5).reshape(batch, rows * columns, spec.channels * side * side)
