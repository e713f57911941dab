"""Which classes a model takes for which, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jaxtyping import Int
from torch import Tensor

from clearformer.messages import Language
from clearformer.messages import tasks as say
from clearformer.tasks.fonts import has_chinese

# Beyond this many classes, numbers in the squares cannot be read.
_MOST_NUMBERED = 20


def draw_confusion(
    path: Path, matrix: Int[Tensor, "classes classes"], names: Sequence[str], *, language: Language = "en"
) -> Path:
    """Write counts by class meant (row) and class named (column) as PNG or SVG, by the suffix of `path`; shades are
    shares of the row. Labels are in English where no font has Chinese."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    shares = matrix.double() / matrix.sum(1, keepdim=True).clamp(min=1)
    side = min(12.0, 2.5 + 0.5 * len(names))
    figure = Figure(figsize=(side + 0.8, side), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    image = axes.imshow(shares.numpy(), vmin=0, vmax=1, cmap="Blues")
    words = language if has_chinese() else "en"
    figure.colorbar(image, ax=axes, label=say.ROW_SHARE.text(words))
    shown = [name.replace("$", r"\$") for name in names]
    axes.set_xticks(range(len(names)), shown, rotation=90 if max(map(len, names)) > 4 else 0)
    axes.set_yticks(range(len(names)), shown)
    axes.set_xlabel(say.NAMED.text(words))
    axes.set_ylabel(say.MEANT.text(words))
    if len(names) <= _MOST_NUMBERED:
        for row, counts in enumerate(matrix.tolist()):
            for column, count in enumerate(counts):
                colour = "white" if shares[row, column] > 0.5 else "black"
                axes.text(column, row, str(count), ha="center", va="center", color=colour)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    return path
