"""`clearformer forecast RUN --data FILE`: the numbers that follow a table's last row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen
from clearformer.cli.speaking import COMPUTING, Computing, Model, loaded
from clearformer.errors import UsageError
from clearformer.messages import train_verb as say

if TYPE_CHECKING:
    from clearformer.data.table import Table
    from clearformer.tasks.forecaster import Forecast

Data = Annotated[Path, Parameter(name="--data", help="A CSV file with the columns that the model was trained on.")]
Steps = Annotated[int | None, Parameter(help="Steps to forecast; as many as the model forecasts at once if left out.")]
HoldOut = Annotated[
    bool, Parameter(help="Forecast the table's own last steps, and say how far the forecast is from them.")
]
Picture = Annotated[
    Path | None, Parameter(name="--plot", help="Draw history, truth and forecast into this file (.png or .svg).")
]


def forecast(
    model: Model,
    /,
    *,
    data: Data,
    steps: Steps = None,
    hold_out: HoldOut = False,
    plot: Picture = None,
    flags: Computing = COMPUTING,
    language: Spoken = "en",
) -> None:
    """Print the forecast as CSV, in the data's own units."""
    if steps is not None and steps < 1:
        raise UsageError(say.BAD_STEPS, found=steps)
    screen = Screen(language, flags)
    speaker = loaded(model, flags, screen)

    from clearformer.data.table import read_table
    from clearformer.model import EncoderOnly
    from clearformer.tasks.forecaster import forecast as work
    from clearformer.tasks.series_data import reading_from

    if speaker.path is None or not isinstance(speaker.model, EncoderOnly):
        raise UsageError(say.NO_FOLDER_OF_RUN, name=speaker.name)
    reading = reading_from(speaker.path)
    table = read_table(data)
    count = steps or reading.horizon
    history, truth = _cut(table, count) if hold_out else (table, None)
    found = work(speaker.model, reading, history, count)
    metrics = None if truth is None else _errors(found, truth)
    picture = None
    if plot is not None:
        from clearformer.tasks.forecast_picture import draw_forecast

        picture = draw_forecast(plot, history, found, truth, language=language)
    if screen.as_json:
        outputs = [{"input": str(data), "output": row, "score": None} for row in _rows(found)]
        screen.json({"outputs": outputs, "metrics": metrics, "plot": picture and str(picture)})
        return
    _print(found, screen)
    for name, value in (metrics or {}).items():
        screen.note(say.FIGURE, name=name, value=value)
    if picture is not None:
        screen.text(str(picture))


def _cut(table: Table, count: int) -> tuple[Table, Table]:
    if len(table.values) <= count:
        raise UsageError(say.SHORT_TABLE, expected=count, found=len(table.values))
    return table.but_last(count), table.last(count)


def _errors(found: Forecast, truth: Table) -> dict[str, float]:
    """Over all forecast numbers, in the data's own units."""
    gap = found.values - truth.only(found.columns).values
    return {"mse": float((gap**2).mean()), "mae": float(abs(gap).mean())}


def _rows(found: Forecast) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [dict(zip(found.columns, row, strict=True)) for row in found.values.tolist()]
    if found.dates is not None:
        rows = [{"date": date.isoformat(sep=" "), **row} for date, row in zip(found.dates, rows, strict=True)]
    return rows


def _print(found: Forecast, screen: Screen) -> None:
    import csv
    import io

    rows = _rows(found)
    written = io.StringIO()
    writer = csv.DictWriter(written, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    screen.text(written.getvalue().rstrip("\n"))
