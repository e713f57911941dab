"""Benches over lengths as pictures: both axes in powers, so that a power of the length is a straight line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from clearformer.bench.attention import KERNELS, AttentionRow
from clearformer.bench.cache import CacheRow, Slope
from clearformer.messages import Language, Message
from clearformer.messages import bench as say
from clearformer.tasks.fonts import has_chinese

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    words = words_of(language)
    with canvas(path, 2) as (left, right):
        powers(left, (say.SECONDS, times, {}), words)
        powers(right, (say.MEBIBYTES, memory, lines("predicted", _MEBIBYTE)), words)
    return path


def draw_cache(path: Path, rows: Sequence[CacheRow], slope: Slope | None, language: Language) -> Path:
    """By length, a line a way: time to the first token, time of each further one, memory; and the times with the cache
    once more on even axes, with the line through them and the one that the cache's bytes would give."""

    def lines(figure: str, scale: float = 1.0) -> dict[str, Curve]:
        ways = dict.fromkeys(row.way for row in rows)
        of_way = {way: [row for row in rows if row.way == way] for way in ways}
        return {
            way: ([row.length for row in found], [getattr(row, figure) / scale for row in found])
            for way, found in of_way.items()
        }

    words = words_of(language)
    with canvas(path, 4) as (first, each, memory, straight):
        powers(first, (say.FIRST_SECONDS, lines("first"), {}), words)
        powers(each, (say.EACH_SECONDS, lines("each"), {}), words)
        held = {way: curve for way, curve in lines("cache", _MEBIBYTE).items() if way != "no cache"}
        powers(memory, (say.BEYOND_WEIGHTS, lines("peak", _MEBIBYTE), held), words)
        _straight(straight, [row for row in rows if row.way == "cache"], slope, words)
    return path


def _straight(axes: Axes, rows: Sequence[CacheRow], slope: Slope | None, words: Language) -> None:
    """Where a law is a straight line whatever it starts from."""
    lengths, times = [row.length for row in rows], [row.each * 1e3 for row in rows]
    spread = [(row.each - row.low) * 1e3 for row in rows], [(row.high - row.each) * 1e3 for row in rows]
    axes.errorbar(lengths, times, spread, fmt="o", color="C0", capsize=3, label=say.MEASURED_TIMES.text(words))
    if slope is not None:
        ends = [0, max(lengths)]
        fitted = [slope.at(length) * 1e3 for length in ends]
        predicted = [(slope.start + slope.expected * length) * 1e3 for length in ends]
        axes.plot(ends, fitted, color="C0", label=say.FITTED.text(words, slope=slope.measured * 1e6))
        label = say.AT_BANDWIDTH.text(words, slope=slope.expected * 1e6)
        axes.plot(ends, predicted, color="C0", linestyle=":", label=label)
    axes.set_xlabel(say.LENGTH.text(words))
    axes.set_ylabel(say.EACH_MILLISECONDS.text(words))
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()


Panel = tuple[Message, Mapping[str, Curve], Mapping[str, Curve]]
"""What the ordinate is, the lines, and dotted ones of the same names."""


def powers(axes: Axes, panel: Panel, words: Language) -> None:
    """A panel on axes of powers."""
    name, lines, dotted = panel
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


@contextmanager
def canvas(path: Path, panels: int) -> Iterator[tuple[Axes, ...]]:
    """So many panels, two a line, written into `path` at the end."""
    # Figures without pyplot: it would choose a window system and keep every figure alive.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4 * (panels // 2)), layout="constrained")
    FigureCanvasAgg(figure)
    yield tuple(figure.subplots(panels // 2, 2).flat)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def words_of(language: Language) -> Language:
    """English where no font has Chinese."""
    return language if has_chinese() else "en"
