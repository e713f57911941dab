"""Positions as pictures: a table of what each position adds or turns, and what is left of likeness by distance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from clearformer.inspect.canvas import figure_of, headline, plain, save, showable, written_in
from clearformer.inspect.colours import SHADES, sides
from clearformer.inspect.positions import Scheme
from clearformer.messages import Language, Message
from clearformer.messages import positions as say

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 11.0, 3.1
_SHOWN_SHARE = 0.995


def draw(path: Path, found: Sequence[Scheme], name: str, *, language: Language = "en") -> tuple[Path, set[str]]:
    """Write a row of pictures for each scheme, as PNG, SVG or HTML by the suffix of `path`; the second answer is the
    characters that no font here shows."""
    title = say.TITLE.text(language, name=name)
    figure, missing = positions_figure(found, title, language)
    described = " ".join(sentence for scheme in found for sentence in sentences(scheme, language))
    return save(figure, path, title, described, language), missing


def sentences(scheme: Scheme, language: Language) -> list[str]:
    """The scheme in words: where it stands, and its numbers."""
    said = [named(scheme, language)]
    if scheme.wavelengths:
        low, high = min(scheme.wavelengths), max(scheme.wavelengths)
        said.append(say.WAVES.text(language, count=len(scheme.wavelengths), shortest=low, longest=high))
    if scheme.kind in ("sinusoidal", "rotary") and scheme.curve is not None:
        under = (scheme.curve < 0.5).nonzero()
        last = len(scheme.curve) - 1
        said.append(say.FALLS.text(language, half=int(under[0])) if len(under) else say.STAYS.text(language, last=last))
    if scheme.kind == "learned" and scheme.curve is not None:
        last = len(scheme.curve) - 1
        said.append(say.ALIKE.text(language, near=float(scheme.curve[1]), far=float(scheme.curve[last]), last=last))
    if scheme.slopes:
        said.append(say.SLOPES.text(language, slopes=" ".join(f"{slope:.4g}" for slope in scheme.slopes)))
    if scheme.kind == "relative" and scheme.table is not None:
        said.append(say.BIASES.text(language, lowest=float(scheme.table.min()), highest=float(scheme.table.max())))
    if scheme.kind == "buckets" and scheme.curve is not None:
        count, away = len(scheme.curve.unique()), scheme.distances
        said.append(say.BUCKETS.text(language, count=count, first=away[0], last=away[-1]))
    return said


def named(scheme: Scheme, language: Language) -> str:
    """Which stack and layers know their positions in which way."""
    kind = say.KINDS[scheme.kind].text(language)
    where = "table" if not scheme.layers else "layer" if len(scheme.layers) == 1 else "layers"
    first, last = (scheme.layers[0], scheme.layers[-1]) if scheme.layers else (0, 0)
    return say.WHERE[where].text(language, stack=scheme.stack, kind=kind, first=first, last=last)


def positions_figure(found: Sequence[Scheme], title: str, language: Language) -> tuple[Figure, set[str]]:
    """One row a scheme: the table, then the curve."""
    words = [named(scheme, language) for scheme in found]
    families, missing = showable([title, *words])
    figure = figure_of(_WIDTH, 0.45 + _HEIGHT * len(found))
    height = figure.get_figheight()
    with written_in(families):
        headline(figure, 0.02, 1 - 0.3 / height, title)
        for row, (scheme, word) in enumerate(zip(found, words, strict=True)):
            bottom = (height - 0.45 - _HEIGHT * (row + 1) + 0.6) / height
            tall = (_HEIGHT - 1.0) / height
            figure.text(0.02, bottom + tall + 0.14 / height, plain(word), fontsize=9)
            both = scheme.table is not None and scheme.curve is not None
            if scheme.table is not None:
                axes = figure.add_axes((0.07, bottom, 0.46 if both else 0.8, tall))
                _draw_table(figure, axes, scheme, language)
            if scheme.curve is not None:
                left = 0.71 if both else 0.07
                _draw_curve(figure.add_axes((left, bottom, 0.27 if both else 0.8, tall)), scheme, language)
    return figure, missing


def _draw_table(figure: Figure, axes: Any, scheme: Scheme, language: Language) -> None:
    assert scheme.table is not None
    table = scheme.table.T if not scheme.distances else scheme.table
    # A few learnt numbers are far larger than all others, and would pale them.
    largest = torch.tensor(_SHOWN_SHARE, dtype=table.dtype)
    bound = float(table.abs().flatten()[: 2**20].quantile(largest)) or 1.0
    first = scheme.distances[0] if scheme.distances else 0
    edges = (first - 0.5, first + table.shape[1] - 0.5, table.shape[0] - 0.5, -0.5)
    image = axes.imshow(
        table.numpy(), cmap=sides(), vmin=-bound, vmax=bound, aspect="auto", interpolation="nearest", extent=edges
    )
    columns: Message = say.DISTANCE if scheme.distances else say.POSITION
    rows: Message = say.HEAD if scheme.distances else say.PAIR if scheme.kind == "rotary" else say.DIMENSION
    axes.set_xlabel(columns.text(language))
    axes.set_ylabel(rows.text(language))
    for side in axes.spines.values():
        side.set_visible(False)
    box = axes.get_position()
    bar = figure.colorbar(image, cax=figure.add_axes((box.x1 + 0.012, box.y0, 0.011, box.height)))
    bar.ax.tick_params(labelsize=8, length=2)
    if scheme.kind == "rotary":
        bar.ax.set_title(say.COS_OF_ANGLE.text(language), fontsize=7, loc="left")


def _draw_curve(axes: Any, scheme: Scheme, language: Language) -> None:
    assert scheme.curve is not None
    places = scheme.distances or range(len(scheme.curve))
    axes.axhline(0, color="#999999", linewidth=0.8)
    axes.plot(list(places), scheme.curve.tolist(), color=SHADES[-2], linewidth=1.4)
    words = {"learned": say.COSINE, "buckets": say.BUCKET}.get(scheme.kind, say.INNER)
    axes.set_xlabel((say.DISTANCE if scheme.distances else say.AWAY).text(language))
    axes.set_ylabel(words.text(language))
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
