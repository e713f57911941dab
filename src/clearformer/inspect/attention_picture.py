"""Attention as pictures: every head side by side, or one head with its tokens."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from clearformer.inspect.attention import AttentionMaps
from clearformer.inspect.canvas import DPI, LONGEST_SIDE, figure_of, headline, plain, save, showable, written_in
from clearformer.inspect.colours import FOREIGN, shades
from clearformer.messages import Language
from clearformer.messages import pictures as say

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Inches of a head in the overview, by how many stand side by side, and of a cell in the map of one head.
_FEW, _THUMB, _SMALLEST_THUMB, _WIDEST = 2.4, 1.3, 0.45, 24.0
_CELL, _SMALLEST_CELL = 0.45, 0.155
_NUMBERED = 14


def draw(
    path: Path,
    found: AttentionMaps,
    name: str,
    *,
    head: tuple[int, int] | None = None,
    name_head: int | None = None,
    language: Language = "en",
) -> tuple[Path, set[str]]:
    """Write all heads, or one of them with its tokens, as PNG, SVG or HTML by the suffix of `path`.

    The second answer is the characters that no font here shows; they are boxes in a PNG, and as they should be in an
    SVG or a page. `name_head` is the number that the head goes by, where only it was kept of its layer. Raises
    UsageError for another suffix.
    """
    title = say.ATTENTION_TITLE.text(language, name=name)
    figure, missing = head_figure(found, *head, language, name_head) if head else grid_figure(found, title, language)
    return save(figure, path, title, described(found, head, language), language), missing


def described(found: AttentionMaps, head: tuple[int, int] | None, language: Language) -> str:
    """The picture in words, for those who cannot see it."""
    count = len(found.tokens)
    if head is None:
        sharp, back = found.sharpest(), found.most_backward()
        return say.GRID_TEXT.text(
            language,
            heads=sum(map(len, found.maps.values())),
            layers=len(found.maps),
            queries=count,
            sharp="{}.{}".format(*sharp),
            entropy=found.manner(*sharp).entropy,
            back="{}.{}".format(*back),
            previous=found.manner(*back).previous or 0.0,
        )
    rows = enumerate(found.strongest(*head, 1))
    best = sorted(((row[0][1], query, row[0][0]) for query, row in rows if row), reverse=True)[:3]
    pairs = (
        say.READS.text(language, query=found.tokens[query].strip(), key=found.read[key].strip(), weight=weight)
        for weight, query, key in best
    )
    return say.HEAD_TEXT.text(language, queries=count, strongest=", ".join(pairs))


def grid_figure(found: AttentionMaps, title: str, language: Language) -> tuple[Figure, set[str]]:
    """Layers as rows, heads as columns; one image for all, so that hundreds of heads take no longer than a few."""
    layers, heads = list(found.maps), max(map(len, found.maps.values()))
    thumb = max(_SMALLEST_THUMB, min(_FEW if heads * len(layers) <= 12 else _THUMB, _WIDEST / heads))
    mosaic, pitch = _mosaic(found, heads, thumb)
    width, height = 1.6 + heads * thumb, 1.15 + len(layers) * thumb
    part, rows, columns = say.PART[found.part], say.layers(len(layers)), say.heads(heads)
    words = say.GRID_TITLE.text(
        language, part=part.text(language), layers=rows.text(language), heads=columns.text(language)
    )
    families, missing = showable([title, words])
    figure = figure_of(max(width, 6.0), height)
    with written_in(families):
        left, top = 0.7 / figure.get_figwidth(), 1 - 0.25 / figure.get_figheight()
        box = (left, 0.25 / figure.get_figheight(), heads * thumb / figure.get_figwidth())
        axes = figure.add_axes((*box, len(layers) * thumb / figure.get_figheight()))
        axes.imshow(mosaic, cmap=shades(), norm=_norm(), interpolation="nearest", aspect="auto")
        axes.set_xticks([(head + 0.5) * pitch[1] for head in range(heads)], map(str, range(heads)))
        axes.set_yticks([(row + 0.5) * pitch[0] for row in range(len(layers))], map(str, layers))
        bare(axes)
        axes.xaxis.tick_top()
        axes.set_ylabel(say.LAYER_NUMBER.text(language, number="").strip())
        axes.set_xlabel(say.HEAD_NUMBER.text(language, number="").strip())
        axes.xaxis.set_label_position("top")
        headline(figure, left, top, words)
        _scale(figure, (box[0] + box[2] + 0.15 / figure.get_figwidth(), box[1]), min(2.0, height - 1.2), language)
    return figure, missing


def head_figure(
    found: AttentionMaps, layer: int, head: int, language: Language, name_head: int | None = None
) -> tuple[Figure, set[str]]:
    """One head's whole map, tokens on both sides; few tokens have their numbers in the cells."""
    weights, seen = found.maps[layer][head].double().numpy(), found.visible[layer].numpy()
    rows, columns = labels_of(found.tokens), labels_of(found.read)
    number = head if name_head is None else name_head
    words = say.HEAD_TITLE.text(language, part=say.PART[found.part].text(language), layer=layer, head=number)
    families, missing = showable([*rows, *columns, words])
    longest = max(len(rows), len(columns))
    cell = max(_SMALLEST_CELL, min(_CELL, 14.0 / longest))
    cell = min(cell, (LONGEST_SIDE - 4) / longest)
    margin = 0.3 + 0.085 * max(map(wide, rows))
    turned = any(wide(label) * 0.085 > cell for label in columns)
    above = 0.6 + (0.085 * max(map(wide, columns)) if turned else 0.15)
    width, height = margin + len(columns) * cell + 1.2, above + len(rows) * cell + 0.3
    figure = figure_of(max(width, 5.0), height)
    w, h = figure.get_figwidth(), figure.get_figheight()
    with written_in(families):
        axes = figure.add_axes((margin / w, 0.3 / h, len(columns) * cell / w, len(rows) * cell / h))
        shown = np.ma.masked_array(weights, ~seen)
        axes.imshow(shown, cmap=shades(), norm=_norm(), interpolation="nearest", aspect="auto")
        _name(axes, rows, columns, cell, turned)
        if longest <= _NUMBERED:
            _number(axes, weights, seen)
        if found.given is not None:
            axes.axhline(found.given - 0.5, color=FOREIGN, linewidth=1.2, linestyle=(0, (4, 2)))
            if found.part != "cross":
                axes.axvline(found.given - 0.5, color=FOREIGN, linewidth=1.2, linestyle=(0, (4, 2)))
            words = f"{words} · {say.BEHIND_LINE.text(language)}"
        headline(figure, 0.1 / w, 1 - 0.28 / h, words)
        corner = ((margin + len(columns) * cell + 0.15) / w, 0.3 / h)
        _scale(figure, corner, min(2.0, len(rows) * cell), language)
    return figure, missing


def _mosaic(found: AttentionMaps, heads: int, thumb: float) -> tuple[Any, tuple[float, float]]:
    """All maps in one array with white gaps, and the rows and columns that one of them takes.

    A map of more tokens than a thumbnail has pixels keeps the strongest weight of each pixel: what stands out stays.
    """
    pixels = max(24, int(thumb * DPI))
    tiles = [
        [_shrunk(weights.float().numpy(), found.visible[at].numpy(), pixels) for weights in maps]
        for at, maps in found.maps.items()
    ]
    height, width = tiles[0][0].shape
    # A wide gap where few cells are drawn large would eat them; at least one cell, or a thirtieth.
    gap = max(1, round(max(height, width) / 30))
    scale = max(1, round(30 / max(height, width)))
    tall, wide = height * scale + gap, width * scale + gap
    mosaic = np.zeros((len(tiles) * tall, heads * wide))
    for row, line in enumerate(tiles):
        for column, tile in enumerate(line):
            grown = np.ma.filled(tile, -1.0).repeat(scale, 0).repeat(scale, 1)
            mosaic[row * tall : row * tall + grown.shape[0], column * wide : column * wide + grown.shape[1]] = grown
    return np.ma.masked_less(mosaic, 0), (tall, wide)


def _shrunk(weights: Float[np.ndarray, "T S"], seen: np.ndarray, pixels: int) -> Any:
    if max(weights.shape) <= pixels:
        return np.ma.masked_array(weights, ~seen)
    rows, columns = (-(-size // pixels) for size in weights.shape)
    padded = np.full((-(-weights.shape[0] // rows) * rows, -(-weights.shape[1] // columns) * columns), -1.0)
    padded[: weights.shape[0], : weights.shape[1]] = np.where(seen, weights, -1.0)
    blocks = padded.reshape(padded.shape[0] // rows, rows, padded.shape[1] // columns, columns)
    return np.ma.masked_less(blocks.max((1, 3)), 0)


def _norm() -> Any:
    """Shades by the square root: a weight of a hundredth is seen beside one of a half."""
    from matplotlib.colors import PowerNorm

    return PowerNorm(0.5, vmin=0, vmax=1)


def _scale(figure: Figure, corner: tuple[float, float], inches: float, language: Language) -> None:
    bar = colour_bar(figure, corner, inches, say.WEIGHT.text(language), _norm())
    bar.set_ticks([0, 0.01, 0.1, 0.25, 0.5, 1], labels=["0", ".01" if inches > 1 else "", ".1", ".25", ".5", "1"])


def colour_bar(figure: Figure, corner: tuple[float, float], inches: float, word: str, norm: Any = None) -> Any:
    """The scale of the shades from 0 to 1, its lower left corner given in shares of the figure."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    box = (*corner, 0.14 / figure.get_figwidth(), inches / figure.get_figheight())
    bar = figure.colorbar(ScalarMappable(norm or Normalize(0, 1), shades()), cax=figure.add_axes(box))
    bar.ax.tick_params(labelsize=8, length=2)
    bar.ax.set_title(word, fontsize=8, loc="left")
    return bar


def _name(axes: Any, rows: list[str], columns: list[str], cell: float, turned: bool) -> None:
    """Tokens beside their rows and columns; where they would run into each other, every second or tenth of them."""
    size = min(9.0, cell * 72 * 0.72)
    step = 1
    if size < 4.5:
        step, size = int(np.ceil(0.09 / cell)), 6.5
    places = range(0, len(columns), step)
    shown = [plain(columns[place]) for place in places]
    axes.set_xticks(places, shown, rotation=90 if turned else 0, fontsize=size)
    axes.set_yticks(range(0, len(rows), step), [plain(label) for label in rows[::step]], fontsize=size)
    axes.xaxis.tick_top()
    bare(axes)


def _number(axes: Any, weights: np.ndarray, seen: np.ndarray) -> None:
    for (row, column), weight in np.ndenumerate(weights):
        if seen[row, column] and weight >= 0.005:
            colour = "white" if weight > 0.35 else "#1b1b1b"
            axes.text(column, row, f"{weight:.2f}".lstrip("0"), ha="center", va="center", fontsize=7, color=colour)


def bare(axes: Any) -> None:
    """No ticks and no frame: the cells are their own."""
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)


def labels_of(tokens: tuple[str, ...]) -> list[str]:
    """Tokens as labels: blanks and line ends as signs, control characters as escapes, long ones cut."""
    shown = []
    for token in tokens:
        text = token.replace("\n", "⏎").replace("\t", "⇥").strip(" ") or "␣"
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
        shown.append(text if len(text) <= 14 else text[:13] + "…")
    return shown


def wide(text: str) -> int:
    """Letters' widths, a Chinese one counted twice."""
    return sum(2 if ord(letter) > 0x2E80 else 1 for letter in text)
