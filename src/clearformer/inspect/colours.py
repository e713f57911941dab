"""Colour scales that every kind of colour vision, and a grey printer, can follow: lightness alone orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

# Anchors from light to dark; between them colours are mixed evenly. Paper white is nothing, deep blue is all.
SHADES = ("#ffffff", "#dcebf5", "#a9cfe6", "#6aa9d2", "#3580b8", "#16598f", "#062f56")
# From one side to the other of zero: brown, white, blue. Brown and blue stay apart without red-green vision.
SIDES = ("#5c3100", "#a86318", "#dfb26f", "#f7f3ec", "#8fbfe0", "#2f7ab5", "#08345f")
HIDDEN = "#ececec"
"""What a mask forbids: grey, and so no value of the scale."""
FOREIGN = "#c0392b"
"""A line that parts what was given from what was written; it is a line, and needs no colour to be seen."""


def shades() -> Colormap:
    """White to deep blue, for shares and probabilities; masked numbers are `HIDDEN`."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("shades", list(SHADES)).with_extremes(bad=HIDDEN)


def sides() -> Colormap:
    """Brown over white to blue, for numbers on both sides of zero."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("sides", list(SIDES)).with_extremes(bad=HIDDEN)


LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#1b1b1b")
"""Lines beside one another (Okabe and Ito 2008): apart for every kind of colour vision; MARKERS part them in grey."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
