"""The logit lens as a picture: layers over positions, the likeliest token in each cell, darker where it is surer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from clearformer.inspect.attention_picture import bare, colour_bar, labels_of, wide
from clearformer.inspect.canvas import LONGEST_SIDE, figure_of, headline, plain, save, showable, written_in
from clearformer.inspect.colours import shades
from clearformer.inspect.lens import LensReading
from clearformer.messages import Language
from clearformer.messages import lens as say_of_lens
from clearformer.messages import pictures as say

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Inches of a cell, and the narrowest in which a token can be read.
_WIDE, _HIGH, _READABLE = 0.72, 0.26, 0.3


def draw(path: Path, found: LensReading, name: str, *, language: Language = "en") -> tuple[Path, set[str]]:
    """Write the picture as PNG, SVG or HTML by the suffix of `path`; tell the characters that no font here shows."""
    title = (say.LENS_TUNED_TITLE if found.tuned else say.LENS_TITLE).text(language, name=name)
    figure, missing = lens_figure(found, title, language)
    settled = found.settled(len(found.tokens) - 1)
    layer = say.EMBEDDING.text(language) if settled is None else settled
    return save(figure, path, title, say.LENS_TEXT.text(language, settled=layer), language), missing


def lens_figure(found: LensReading, title: str, language: Language) -> tuple[Figure, set[str]]:
    """The last layer on top; below, the tokens read; above, the true ones."""
    rows = len(found.layers)
    reads = labels_of(found.tokens)
    truth = ["" if token is None else labels_of((token,))[0] for token in found.truth]
    said = [labels_of(tuple(guesses[0].token for guesses in row)) for row in found.top]
    width = max(0.06, min(_WIDE, (LONGEST_SIDE - 3) / len(reads)))
    families, missing = showable([title, *reads, *truth, *(label for row in said for label in row)])
    turned = any(wide(label) * 0.085 > width for label in (*reads, *truth))
    below = 0.55 + (0.085 * max(map(wide, (*reads, *truth))) if turned else 0.15)
    figure = figure_of(max(6.0, 0.8 + width * len(reads) + 1.0), _HIGH * rows + 2 * below)
    w, h = figure.get_figwidth(), figure.get_figheight()
    with written_in(families):
        axes = figure.add_axes((0.8 / w, below / h, width * len(reads) / w, _HIGH * rows / h))
        shares = [[guesses[0].probability for guesses in row] for row in found.top]
        axes.imshow(shares, cmap=shades(), vmin=0, vmax=1, origin="lower", aspect="auto", interpolation="nearest")
        step = 1 if width > 0.11 else -(-11 // max(1, round(width * 100)))
        places = range(0, len(reads), step)
        size = max(4.5, min(8.0, width * step * 72 * 0.7))
        axes.set_xticks(places, [plain(reads[place]) for place in places], rotation=90 if turned else 0, fontsize=size)
        axes.set_xlabel(say.TOKENS_READ.text(language), fontsize=8)
        above = axes.secondary_xaxis("top")
        above.set_xticks(places, [plain(truth[place]) for place in places], rotation=90 if turned else 0, fontsize=size)
        above.set_xlabel(say_of_lens.TRUE.text(language), fontsize=8)
        names = [say.EMBEDDING.text(language) if layer is None else str(layer) for layer in found.layers]
        axes.set_yticks(range(rows), names, fontsize=7)
        axes.set_ylabel(say_of_lens.LAYER.text(language))
        for each in (axes, above):
            bare(each)
        if width >= _READABLE:
            for row, labels in enumerate(said):
                for place, label in enumerate(labels):
                    colour = "white" if shares[row][place] > 0.55 else "#1b1b1b"
                    fits = min(7.0, width * 72 / max(1, 0.62 * wide(label)))
                    right = "bold" if found.rank[row, place] == 1 and label.isascii() else "normal"
                    axes.text(
                        place,
                        row,
                        plain(label),
                        ha="center",
                        va="center",
                        fontsize=fits,
                        color=colour,
                        fontweight=right,
                    )
        headline(figure, 0.1 / w, 1 - 0.25 / h, title)
        corner = ((0.8 + width * len(reads) + 0.15) / w, below / h)
        colour_bar(figure, corner, min(2.0, _HIGH * rows), say.PROBABILITY_SHORT.text(language))
    return figure, missing
