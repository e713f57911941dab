"""A training run as it is seen: a bar on a terminal, a line for what is worth keeping, a table at the end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearformer.cli.screen import Screen, visible
from clearformer.messages import train_verb as say
from clearformer.train.events import Evaluated, Event, Noted, Sampled, Saved, Stepped, Stopped

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from clearformer.doctor.watching import Watcher
    from clearformer.spec import Spec
    from clearformer.train.task import Metric

_SHOWN = 100


class Watching:
    """Takes the loop's events and shows them; keeps what `--json` and the last table need."""

    def __init__(self, screen: Screen, metric: Metric, unit: str, doctor: Watcher | None = None) -> None:
        self.doctor = doctor
        self.screen, self.metric, self.unit = screen, metric, unit
        self.stopped: Stopped | None = None
        self.best: Evaluated | None = None
        self.step: Stepped | None = None
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Watching:
        if not self.screen.quiet and sys.stderr.isatty():
            from rich import progress as bars
            from rich.console import Console

            columns = (
                bars.TextColumn("{task.description}", markup=False),
                bars.BarColumn(bar_width=20),
                bars.MofNCompleteColumn(),
                bars.TimeRemainingColumn(),
            )
            self._bar = bars.Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("", total=None)
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def see(self, event: Event) -> None:
        """Show one event."""
        if self.doctor is not None:
            self._examine(self.doctor, event)
        match event:
            case Stepped():
                self.step = event
                self._advance(event)
            case Evaluated():
                self.best = event if event.best else self.best
                figures = "  ".join(f"{name} {value:.4f}" for name, value in event.metrics.items())
                self._line(say.EVALUATED_BEST if event.best else say.EVALUATED, step=event.step, figures=figures)
            case Sampled():
                for sample in event.samples:
                    if sample.picture is not None and self._bar is not None:
                        # Rows of shades are for eyes; a log has the image's number.
                        self._bar.console.print(visible(sample.picture, keep="\n"), markup=False, highlight=False)
                    self._line(say.SAMPLE, input=_short(sample.input), output=_short(sample.output))
                    if sample.truth is not None:
                        self._line(say.SAMPLE_TRUTH, truth=_short(sample.truth))
            case Saved():
                pass
            case Noted():
                self._line(event.message, **event.values)
            case Stopped():
                self.stopped = event

    def _examine(self, doctor: Watcher, event: Event) -> None:
        """The doctor hears what the metrics file gets."""
        from clearformer.doctor.watching import sentence

        record: dict[str, object] = {}
        if isinstance(event, Stepped):
            record = {"step": event.step, "loss": event.loss, "lr": event.lr, "grad_norm": event.grad_norm}
        elif isinstance(event, Evaluated):
            record = {"step": event.step, "evaluation": event.metrics}
        for breach in doctor.hear(record) if record else ():
            self._line(say.DOCTOR, said=sentence(breach, self.screen.language))

    def contents(self, run: Path) -> dict[str, Any]:
        """The object that `--json` prints."""
        assert self.stopped is not None
        best = None
        if self.best is not None:
            best = {"step": self.best.step, "metric": self.metric.name, "value": self.best.metrics[self.metric.name]}
        return {
            "run": str(run),
            "steps": self.stopped.step,
            "best": best,
            "tokens_per_s": self.step and self.step.units_per_s,
            "mfu": self.step and self.step.mfu,
            "stopped": self.stopped.reason,
        }

    def tell(self) -> None:
        """The result in words."""
        assert self.stopped is not None
        self.screen.say(say.REASONS[self.stopped.reason], step=self.stopped.step)
        if self.best is not None:
            value = self.best.metrics[self.metric.name]
            self.screen.say(say.BEST, step=self.best.step, metric=self.metric.name, value=value)
        if self.step is not None:
            self.screen.say(say.SPEED, speed=self.step.units_per_s, unit=self._unit())

    def _unit(self) -> Any:
        return say.UNITS[self.unit]

    def _advance(self, event: Stepped) -> None:
        if self._bar is None or self._task is None:
            return
        mfu = "" if event.mfu is None else f"  {event.mfu:.0%}"
        memory = f"  {event.memory / 2**30:.1f} GiB"
        words = say.STEP.text(
            self.screen.language, loss=event.loss, speed=event.units_per_s, unit=self._unit(), mfu=mfu, memory=memory
        )
        self._bar.update(self._task, description=words, completed=event.step, total=event.steps)

    def _line(self, message: Any, **values: object) -> None:
        """A line that stays, above the bar where there is one."""
        if self.screen.quiet:
            return
        text = message.text(self.screen.language, **values)
        if self._bar is None:
            print(text, file=sys.stderr, flush=True)
        else:
            self._bar.console.print(text, markup=False, highlight=False)


def doctor_for(spec: Spec) -> Watcher:
    """A watcher that knows what the model's loss chooses among."""
    from clearformer.doctor.watching import Watcher
    from clearformer.spec import Classes, Language, SingleStack, Tokens, main_stack

    head = getattr(spec, "head", None)
    if isinstance(head, Classes):
        return Watcher(head.count)
    stack = main_stack(spec) if isinstance(spec, SingleStack) else getattr(spec, "decoder", None)
    tokens = getattr(stack, "input", None)
    return Watcher(tokens.vocabulary if isinstance(head, Language) and isinstance(tokens, Tokens) else None)


def _short(text: str) -> str:
    line = visible(text)
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
