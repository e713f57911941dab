"""The loss curve that a recipe should give, as a band over several seeds, and a run held against it.

Losses are means over the steps since the band's point before, so that a single batch decides nothing.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from clearformer.errors import UsageError
from clearformer.messages import train as say
from clearformer.spec.typed import Reader
from clearformer.train.events import Event, Noted, Stepped
from clearformer.train.metrics import read_metrics

POINTS = 20
_DEVIATIONS = 3.0
_ONE_SEED, _LEAST = 0.05, 0.01


@dataclass(frozen=True)
class Band:
    """At each of `points` the mean loss over the seeds, and the bounds outside which a run is remarkable.

    `command` made it. With a single seed the bounds are 5 % of the mean either way, else three standard deviations,
    at least 1 %.
    """

    command: str
    seeds: tuple[int, ...]
    steps: int
    points: tuple[int, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


def make_band(metrics: Sequence[Path], seeds: Sequence[int], command: str) -> Band:
    """From the metrics.jsonl of one run a seed, all of the same recipe."""
    runs = [[record["loss"] for record in read_metrics(path) if "loss" in record] for path in metrics]
    steps = len(runs[0])
    assert all(len(run) == steps for run in runs), "runs of one recipe have as many steps"
    points = tuple(dict.fromkeys(max(steps * point // POINTS, 1) for point in range(1, POINTS + 1)))
    curves = [[_mean(run[start:end]) for start, end in zip((0, *points), points, strict=False)] for run in runs]
    means, margins = [], []
    for losses in zip(*curves, strict=True):
        mean = statistics.fmean(losses)
        spread = _DEVIATIONS * statistics.stdev(losses) if len(losses) > 1 else _ONE_SEED * abs(mean)
        means.append(mean)
        margins.append(max(spread, _LEAST * abs(mean)))
    low = tuple(mean - margin for mean, margin in zip(means, margins, strict=True))
    high = tuple(mean + margin for mean, margin in zip(means, margins, strict=True))
    return Band(command, tuple(seeds), steps, points, tuple(means), low, high)


def write_band(band: Band, path: Path) -> None:
    path.write_text(json.dumps(asdict(band), indent=1) + "\n", encoding="utf-8")


def read_band(path: Path) -> Band:
    """Raises UsageError for a file that `write_band` did not write."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(say.BAD_BAND, path=path, detail=error) from error
    band: Band = Reader({}, UsageError, implied=True).read(data, Band, "band", path.name)
    if not len(band.points) == len(band.mean) == len(band.low) == len(band.high) > 0:
        raise UsageError(say.BAD_BAND, path=path, detail="points, mean, low, high")
    return band


def compared(events: Iterable[Event], band: Band) -> Iterator[Event]:
    """The same events, with a note where the run leaves the band or comes back into it, and at the end. Of a resumed
    run the first stretch is passed over: its mean lacks the steps made before."""
    events, losses, index, before = iter(events), [], -1, None
    partial = False
    for event in events:
        yield event
        if not isinstance(event, Stepped):
            continue
        if event.steps != band.steps:
            yield Noted(say.BAND_OTHER_LENGTH, {"expected": band.steps, "found": event.steps})
            yield from events
            return
        if index < 0:
            index = next((i for i, point in enumerate(band.points) if point >= event.step), len(band.points) - 1)
            partial = index > 0
        losses.append(event.loss)
        if event.step >= band.points[index]:
            note = _verdict(band, index, event.step, _mean(losses))
            if not partial and (note.message is not before or event.step == band.steps):
                yield note
            before, losses, partial = None if partial else note.message, [], False
            index = min(index + 1, len(band.points) - 1)


def _verdict(band: Band, index: int, step: int, loss: float) -> Noted:
    low, high = band.low[index], band.high[index]
    message = say.BAND_ABOVE if loss > high else say.BAND_BELOW if loss < low else say.BAND_WITHIN
    values = {"step": step, "loss": loss, "low": low, "high": high}
    return Noted(message, values, warning=message is say.BAND_ABOVE)


def _mean(losses: Sequence[float | None]) -> float:
    found = [loss for loss in losses if loss is not None]
    return statistics.fmean(found) if found else float("nan")
