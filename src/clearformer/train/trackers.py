"""Adapters to programs that keep and draw runs; each is told the loop's events and changes none."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from clearformer.errors import UsageError
from clearformer.messages import did_you_mean
from clearformer.messages import train as say
from clearformer.train.events import Evaluated, Event, Stepped


class Tracker(Protocol):
    """Takes named numbers of a step."""

    def numbers(self, step: int, values: dict[str, float]) -> None: ...

    def close(self) -> None: ...


class TensorBoard:
    """Event files in `folder`, for `tensorboard --logdir`."""

    def __init__(self, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise UsageError(say.NO_TRACKER, name="tensorboard", package="tensorboard") from error
        self._writer: Any = SummaryWriter(str(folder))

    def numbers(self, step: int, values: dict[str, float]) -> None:
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        self._writer.close()


class Trackio:
    """A run of the project `clearformer`, named as the folder's parent, for `trackio show`.

    What it tells its user goes to stderr: stdout holds our result alone.
    """

    def __init__(self, folder: Path) -> None:
        try:
            import trackio
        except ImportError as error:
            raise UsageError(say.NO_TRACKER, name="trackio", package="trackio") from error
        self._trackio: Any = trackio
        with redirect_stdout(sys.stderr):
            trackio.init(project="clearformer", name=folder.parent.name)

    def numbers(self, step: int, values: dict[str, float]) -> None:
        with redirect_stdout(sys.stderr):
            self._trackio.log(values, step=step)

    def close(self) -> None:
        with redirect_stdout(sys.stderr):
            self._trackio.finish()


TRACKERS: dict[str, type[TensorBoard] | type[Trackio]] = {"tensorboard": TensorBoard, "trackio": Trackio}


def make_tracker(name: str, folder: Path) -> Tracker:
    """The tracker of this name; `folder` is where in the run folder it may write. Raises UsageError."""
    if name not in TRACKERS:
        hint = did_you_mean(name, TRACKERS)
        raise UsageError(say.UNKNOWN_TRACKER, found=name, expected=", ".join(TRACKERS), hint=hint)
    return TRACKERS[name](folder)


def require_tracker(name: str) -> None:
    """Raises UsageError where the tracker's package is not installed; it is named as the tracker is."""
    if name in TRACKERS and find_spec(name) is None:
        raise UsageError(say.NO_TRACKER, name=name, package=name)


def tracked(events: Iterable[Event], tracker: Tracker) -> Iterator[Event]:
    """The same events, told to the tracker on their way."""
    try:
        for event in events:
            if isinstance(event, Stepped):
                rates = {"lr": event.lr, "gradient norm": event.grad_norm, "units a second": event.units_per_s}
                tracker.numbers(
                    event.step, {"training/loss": event.loss} | {f"training/{k}": v for k, v in rates.items()}
                )
            elif isinstance(event, Evaluated):
                tracker.numbers(event.step, {f"validation/{name}": value for name, value in event.metrics.items()})
            yield event
    finally:
        tracker.close()
