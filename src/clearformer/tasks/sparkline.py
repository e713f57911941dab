"""A series in one line of text."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

_BARS = "▁▂▃▄▅▆▇█"
_WIDEST = 60


def sparkline(values: Float[np.ndarray, " steps"], low: float, high: float) -> str:
    """The values as one line of bars between low and high; a long series is drawn by its last steps."""
    span = high - low or 1.0
    shown = np.nan_to_num((values[-_WIDEST:] - low) / span).clip(0, 1)
    return "".join(_BARS[round(float(share) * (len(_BARS) - 1))] for share in shown)
