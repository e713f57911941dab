"""An experiment as a picture: every seed's figure with mean and interval, and beside them the curves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearformer.inspect.canvas import figure_of, headline, plain, save, showable, written_in
from clearformer.inspect.colours import LINES, MARKERS
from clearformer.lab.experiment import Curve
from clearformer.lab.interval import LEVEL
from clearformer.lab.report import ArmReport, Report, middle
from clearformer.messages import Language
from clearformer.messages import lab_machine as say

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANEL, _GAP, _TOP, _BELOW = 4.3, 0.85, 0.55, 0.6
_ROW, _LEAST_HEIGHT, _LETTER = 0.34, 2.3, 0.075
_MARKED = 20


def draw(path: Path, report: Report, language: Language) -> tuple[Path, set[str]]:
    """Write the picture as PNG, SVG or HTML by the suffix of `path`; tell the characters that no font here shows."""
    title = report.experiment.title.text(language)
    figure, missing = picture_of(report, title, language)
    described = say.PICTURE_TEXT.text(language, title=title, verdict=report.verdict(language))
    return save(figure, path, title, described, language), missing


def picture_of(report: Report, title: str, language: Language) -> tuple[Figure, set[str]]:
    """The arms as rows on the left; a panel for each curve that some trial gave."""
    labels = [arm.arm.label.text(language) for arm in report.arms]
    curves = [curve for curve in report.experiment.curves if any(_points(arm, curve) for arm in report.arms)]
    words = [curve.x.text(language) + curve.y.text(language) for curve in curves]
    families, missing = showable([title, *labels, *words, report.experiment.figure.label.text(language)])
    left = 0.35 + _LETTER * max(sum(1 if c.isascii() else 2 for c in label) for label in labels)
    tall = max(_LEAST_HEIGHT, _ROW * len(labels))
    figure = figure_of(left + _PANEL + 0.25 + len(curves) * (_PANEL + _GAP), tall + _TOP + _BELOW)
    w, h = figure.get_figwidth(), figure.get_figheight()
    with written_in(families):
        headline(figure, 0.15 / w, 1 - 0.28 / h, title)
        axes = figure.add_axes((left / w, _BELOW / h, _PANEL / w, tall / h))
        _draw_arms(axes, report, labels, language)
        for number, curve in enumerate(curves):
            start = left + _PANEL + _GAP + number * (_PANEL + _GAP)
            axes = figure.add_axes((start / w, _BELOW / h, _PANEL / w, tall / h))
            _draw_curve(axes, report, curve, labels, language, named=number == 0)
    return figure, missing


def _draw_arms(axes: Any, report: Report, labels: list[str], language: Language) -> None:
    """A dot a seed, the mean as a bar across, the interval as a line."""
    chosen = report.experiment.figure
    for row, arm in enumerate(report.arms):
        colour, marker = LINES[row % len(LINES)], MARKERS[row % len(MARKERS)]
        seen = [outcome.figures[chosen.name] for outcome in arm.outcomes if not outcome.diverged]
        axes.plot(seen, [row] * len(seen), marker, color=colour, alpha=0.45, markersize=5, markeredgewidth=0)
        if (found := arm.intervals.get(chosen.name)) is None:
            continue
        if found.low is not None and found.high is not None:
            axes.plot([found.low, found.high], [row, row], "|-", color=colour, linewidth=2, markersize=9)
        axes.plot(found.mean, row, marker, color=colour, markersize=8, markeredgecolor="white")
    axes.set_yticks(range(len(labels)), [plain(label) for label in labels])
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_xlabel(say.PICTURE_AXIS.text(language, figure=chosen.label, level=round(100 * LEVEL)))
    axes.grid(axis="x", alpha=0.3)
    _open(axes)


def _draw_curve(axes: Any, report: Report, curve: Curve, labels: list[str], language: Language, *, named: bool) -> None:
    """The mean over seeds, and what lies between the least and the most of them."""
    for row, arm in enumerate(report.arms):
        if not (points := _points(arm, curve)):
            continue
        x, means, least, most = middle(points)
        colour = LINES[row % len(LINES)]
        marker = MARKERS[row % len(MARKERS)] if len(x) <= _MARKED else None
        every = None if marker else max(1, len(x) // 6)
        axes.plot(
            x, means, color=colour, marker=marker or MARKERS[row % len(MARKERS)], markevery=every, markersize=4.5,
            linewidth=1.5, label=plain(labels[row]),
        )  # fmt: skip
        axes.fill_between(x, least, most, color=colour, alpha=0.15, linewidth=0)
    if curve.log_x:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:g}")
    if curve.log_y:
        axes.set_yscale("log")
        for place in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
            place(_logarithmic())
    axes.set_xlabel(curve.x.text(language))
    axes.set_ylabel(curve.y.text(language))
    axes.grid(alpha=0.3)
    if named:
        axes.legend(frameon=False, fontsize=8)
    _open(axes)


def _logarithmic() -> Any:
    """Plain numbers at the powers, and between them where the axis spans few."""
    from matplotlib.ticker import LogFormatter

    return LogFormatter(minor_thresholds=(1.0, 0.4))


def _points(arm: ArmReport, curve: Curve) -> list[Any]:
    return [outcome.curves[curve.name] for outcome in arm.outcomes if curve.name in outcome.curves]


def _open(axes: Any) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
