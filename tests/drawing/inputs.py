"""What a drawn model is fed: ids with padding, images, series, from one seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clearformer import spec as s
from drawing.models import STEPS, VOCABULARY

B = 3
LENGTHS = (7, 4, 1)


@dataclass(frozen=True)
class Batch:
    """`data` and, for tokens, which are real (padded on the right)."""

    data: np.ndarray
    real: np.ndarray | None = None


def batch(source: s.Input, rng: np.random.Generator) -> Batch:
    match source:
        case s.Tokens():
            ids = rng.integers(0, VOCABULARY - 1, (B, max(LENGTHS)))
            real = np.arange(max(LENGTHS)) < np.array(LENGTHS)[:, None]
            # Every row ends with the end token, which the drawn poolings look for.
            ids[np.arange(B), np.array(LENGTHS) - 1] = VOCABULARY - 1
            return Batch(ids, real)
        case s.Patches():
            return Batch(rng.standard_normal((B, source.channels, source.height, source.width)))
        case s.Series():
            return Batch(rng.standard_normal((B, STEPS, source.channels)) + 2)


def prefixes() -> np.ndarray:
    """Each row's prefix length, for specs that have prefixes."""
    return np.array([3, 2, 0])
