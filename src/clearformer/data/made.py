"""Sets that need no download: integers in a ring, letters by chance, sines, and scikit-learn's handwritten digits."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np

from clearformer.data.batches import randomness
from clearformer.data.images import Pictures
from clearformer.data.table import Table
from clearformer.errors import DataError
from clearformer.messages import images as say


def cyclic(split: Literal["training", "validation"]) -> tuple[str, ...]:
    """Texts such as 7890123…: each next token is the next integer, 0 behind 9, from a start of the text's own."""
    count, length = (256, 64) if split == "training" else (32, 64)
    starts = randomness(0, int(split == "training")).integers(10, size=count)
    return tuple("".join(str((start + step) % 10) for step in range(length)) for start in starts.tolist())


def chance(split: Literal["training", "validation"]) -> tuple[str, ...]:
    """One text of letters a to p drawn alike, each by itself: from what stands before nothing follows of the next."""
    count = 200_000 if split == "training" else 10_000
    drawn = randomness(1, int(split == "training")).integers(16, size=count)
    return ("".join("abcdefghijklmnop"[letter] for letter in drawn.tolist()),)


def sine(columns: int = 16, rows: int = 4000, step: float = 0.1, seed: int = 0) -> Table:
    """Columns sin(ω t + φ) at t = 0, step, 2 step …, each with its own ω from 0.5 to 2 and φ from 0 to 2π.

    At this step one value hardly tells the next few; steps a tenth as long would make the last value all but perfect.
    """
    draw = randomness(seed)
    frequency, phase = draw.uniform(0.5, 2.0, columns), draw.uniform(0, 2 * np.pi, columns)
    time = step * np.arange(rows)[:, None]
    return Table(tuple(f"sine {number}" for number in range(columns)), np.sin(frequency * time + phase))


def digits() -> Pictures:
    """1,797 handwritten digits, 8 × 8 grey (UCI's optical recognition test set, as scikit-learn carries it).

    Raises DataError where scikit-learn is not installed.
    """
    try:
        with warnings.catch_warnings():
            # Its own dependencies may announce changes that do not concern a table of numbers.
            warnings.simplefilter("ignore")
            from sklearn.datasets import load_digits
    except ImportError as error:
        raise DataError(say.NO_SKLEARN) from error
    found = load_digits()
    images = np.round(found.images * (255 / 16)).astype(np.uint8)
    return Pictures(images[..., None], found.target.astype(np.int64), tuple(map(str, range(10))))
