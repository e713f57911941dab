"""Benches over lengths as pictures: both axes in powers, so that a law is a straight line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from clearformer.bench.attention import KERNELS, AttentionRow
from clearformer.bench.cache import CacheRow, Slope
from clearformer.messages import Language, Message
from clearformer.messages import bench as say
from clearformer.tasks.fonts import has_chinese

Curve = tuple[Sequence[float], Sequence[float]]
_MEBIBYTE = 2**20


def draw_attention(path: Path, rows: Sequence[AttentionRow], language: Language) -> Path:
    """Time and memory by length, a line a kernel, as PNG or SVG by the suffix of `path`; what was predicted of memory
    is dotted, and goes on where nothing was run."""

    def lines(figure: str, scale: float) -> dict[str, Curve]:
        found: dict[str, Curve] = {}
        for kernel in KERNELS:
            points = [(row.length, getattr(row, figure)) for row in rows if row.kernel == kernel]
            known = [(length, value / scale) for length, value in points if value is not None]
            found[kernel] = ([length for length, _ in known], [value for _, value in known])
        return found

    times, memory = lines("median", 1.0), lines("peak", _MEBIBYTE)
    return _draw(path, (say.SECONDS, times, {}), (say.MEBIBYTES, memory, lines("predicted", _MEBIBYTE)), language)


def draw_cache(path: Path, rows: Sequence[CacheRow], slope: Slope | None, language: Language) -> Path:
    """Time to the first token, and of each further one, by length, a line a way; dotted, how the latter would grow with
    the cache's bytes at the memory's rate alone, from the shortest on."""

    def lines(figure: str) -> dict[str, Curve]:
        ways = dict.fromkeys(row.way for row in rows)
        of_way = {way: [row for row in rows if row.way == way] for way in ways}
        return {
            way: ([row.length for row in found], [getattr(row, figure) for row in found])
            for way, found in of_way.items()
        }

    each, grown = lines("each"), {}
    if slope is not None:
        lengths, seconds = each["cache"]
        grown["cache"] = (lengths, [seconds[0] + slope.expected * (length - lengths[0]) for length in lengths])
    return _draw(path, (say.FIRST_SECONDS, lines("first"), {}), (say.EACH_SECONDS, each, grown), language)


Panel = tuple[Message, Mapping[str, Curve], Mapping[str, Curve]]
"""What the ordinate is, the lines, and dotted ones of the same names."""


def _draw(path: Path, left: Panel, right: Panel, language: Language) -> Path:
    # Figures without pyplot: it would choose a window system and keep every figure alive.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    FigureCanvasAgg(figure)
    words = language if has_chinese() else "en"
    for axes, (name, lines, dotted) in zip(figure.subplots(1, 2), (left, right), strict=True):
        for number, (label, (x, y)) in enumerate(lines.items()):
            axes.plot(x, y, label=label, marker="o", color=f"C{number}")
            if label in dotted:
                axes.plot(*dotted[label], color=f"C{number}", linestyle=":")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel(say.LENGTH.text(words))
        axes.set_ylabel(name.text(words))
        axes.grid(alpha=0.3)
        axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    return path
