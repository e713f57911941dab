"""A forecast as a picture: what was known, what came, and what was said."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import numpy as np
from jaxtyping import Float

from clearformer.data.table import Table
from clearformer.messages import Language
from clearformer.messages import tasks_forecasting as say
from clearformer.tasks.fonts import has_chinese
from clearformer.tasks.forecaster import Forecast

_MOST_COLUMNS = 8
_SHOWN_HISTORY = 3


def draw_forecast(
    path: Path, history: Table, found: Forecast, truth: Table | None = None, *, language: Language = "en"
) -> Path:
    """Write history, truth (where it is known) and forecast, a panel a column (the first eight), as PNG or SVG by the
    suffix of `path`. The history is shown for three times the forecast's length."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = found.columns[:_MOST_COLUMNS]
    past = history.last(min(len(history.values), _SHOWN_HISTORY * len(found.values)))
    before, after = _axis(past, len(found.values), found.dates)
    figure = Figure(figsize=(9, 1 + 2 * len(columns)), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(columns), 1, sharex=True, squeeze=False)[:, 0]
    # The default font has no Chinese; labels in the picture stay in a language that it can show.
    words = language if has_chinese() else "en"
    for panel, name in zip(panels, columns, strict=True):
        values = past.values[:, past.columns.index(name)]
        panel.plot(before, values, color="0.35", label=say.HISTORY.text(words))
        if truth is not None:
            known = truth.values[: len(after), truth.columns.index(name)]
            panel.plot(*_joined(before, values, after[: len(known)], known), color="0.6", label=say.TRUTH.text(words))
        line = _joined(before, values, after, found.values[:, found.columns.index(name)])
        panel.plot(*line, color="tab:orange", label=say.FORECAST.text(words))
        panel.set_ylabel(name.replace("$", r"\$"))
        panel.grid(alpha=0.3)
    panels[0].legend(loc="upper left", frameon=False, ncols=3)
    if found.dates is None:
        panels[-1].set_xlabel(say.ROWS.text(words))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    return path


def _axis(past: Table, steps: int, dates: tuple[datetime, ...] | None) -> tuple[Sequence[object], Sequence[object]]:
    """The places of the history and of the forecast: dates, or rows counted from the forecast's beginning."""
    if past.dates is not None and dates is not None:
        return past.dates, dates
    return range(-len(past.values), 0), range(steps)


def _joined(
    before: Sequence[object], past: Float[np.ndarray, " rows"], after: Sequence[object], values: Float[np.ndarray, " n"]
) -> tuple[list[object], list[float]]:
    """A line that begins at the last known point, so that no gap is seen."""
    return [before[-1], *after], [float(past[-1]), *map(float, values)]
