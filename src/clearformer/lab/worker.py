"""A process that runs trials of one experiment: one order a line comes in, told steps and an outcome go out.

Started by `team`, as `python -m clearformer.lab.worker`. It ends when its input does: when whoever asked is gone. A
trial that is under way then is saved, so that whoever takes the folder up again finds it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from io import FileIO, RawIOBase
from pathlib import Path
from queue import Queue
from typing import Any, TextIO

from clearformer.errors import ClearformerError, UsageError
from clearformer.lab.experiment import Arm, Experiment, Outcome, Price, Trial
from clearformer.lab.experiments import find
from clearformer.lab.training_arm import Interrupted
from clearformer.messages import did_you_mean
from clearformer.messages import lab_own as say

_SHORTEST_S = 1e-6


class Orders:
    """Lines, read beside the work. When they end in the middle of it, this process is sent the signal to save and end.

    Unbuffered: a thread that waits within a buffer holds its lock, and Python could not end before it.
    """

    def __init__(self, lines: RawIOBase) -> None:
        self._waiting: Queue[bytes | None] = Queue()
        self._working = threading.Event()
        threading.Thread(target=self._listen, args=(lines,), daemon=True).start()

    def __iter__(self) -> Iterator[bytes]:
        while (line := self._waiting.get()) is not None:
            yield line

    @contextmanager
    def working(self) -> Iterator[None]:
        self._working.set()
        try:
            yield
        finally:
            self._working.clear()

    def _listen(self, lines: RawIOBase) -> None:
        for line in lines:
            self._waiting.put(line)
        self._waiting.put(None)
        if self._working.is_set():
            os.kill(os.getpid(), signal.SIGTERM)


def serve(source: str, orders: Orders, answers: TextIO) -> None:
    """Carry out each order; an error of ours is an answer in both languages, and any other ends the process."""

    def answer(**told: Any) -> None:
        answers.write(json.dumps(told) + "\n")
        answers.flush()

    try:
        experiment = find(source)
        for line in orders:
            with orders.working():
                told = carried_out(experiment, json.loads(line), lambda step: answer(step=step))
            answer(**told)
    except ClearformerError as error:
        cause, remedy = ([each("en"), each("zh")] for each in (error.cause, error.remedy))
        answer(error={"kind": error.kind, "cause": cause, "remedy": remedy})
    except Interrupted:
        answer(interrupted=True)


def carried_out(experiment: Experiment, order: dict[str, Any], tell: Callable[[int], None]) -> dict[str, Any]:
    """The price of an arm where `seconds` is given, else a trial's outcome. Raises what the arm does, and UsageError
    where it does not measure what the experiment is decided by."""
    arm = experiment.arm(order["arm"])
    data, scratch = Path(order["data"]), Path(order["scratch"])
    trial = Trial(order["seed"], order["steps"], order["threads"], data, scratch, tell)
    tell(0)
    if order["seconds"] is None:
        return {"outcome": asdict(measured(experiment, arm, trial))}
    return {"price": asdict(priced(experiment, arm, trial, order["seconds"]))}


def priced(experiment: Experiment, arm: Arm, trial: Trial, seconds: float) -> Price:
    """What a trial takes, by a trial of one step and one of as many as fit into half the seconds: whatever stands
    around the steps is timed with them."""

    def taken(steps: int) -> float:
        begun = time.perf_counter()
        measured(experiment, arm, replace(trial, steps=steps, tell=lambda step: None))
        shutil.rmtree(trial.scratch, ignore_errors=True)
        return time.perf_counter() - begun

    rough = arm.step_seconds(trial, seconds / 2)
    more = max(1, round(seconds / 2 / max(rough, _SHORTEST_S)))
    one = taken(1)
    step_s = max(rough, (taken(1 + more) - one) / more)
    return Price(max(one - step_s, 0.0), step_s)


def measured(experiment: Experiment, arm: Arm, trial: Trial) -> Outcome:
    outcome, name = arm.measure(trial), experiment.figure.name
    if not outcome.diverged and name not in outcome.figures:
        known, hint = ", ".join(outcome.figures), did_you_mean(name, outcome.figures)
        raise UsageError(say.NO_FIGURE, found=name, expected=known, hint=hint)
    return outcome


def main() -> None:
    # What libraries print must not come between the answers.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)
        serve(sys.argv[1], Orders(FileIO(0, closefd=False)), answers)


if __name__ == "__main__":
    main()
