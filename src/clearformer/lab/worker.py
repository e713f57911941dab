"""A process that runs trials of one experiment: one order a line comes in, told steps and an outcome go out.

Started by `team`, as `python -m clearformer.lab.worker`. It ends when its input does: when whoever asked is gone.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TextIO

from clearformer.errors import ClearformerError, UsageError
from clearformer.lab.experiment import Arm, Experiment, Outcome, Trial
from clearformer.lab.experiments import find
from clearformer.lab.training_arm import Interrupted
from clearformer.messages import did_you_mean
from clearformer.messages import lab_own as say


def serve(source: str, orders: TextIO, answers: TextIO) -> None:
    """Carry out each order; an error of ours is an answer in both languages, and any other ends the process."""

    def answer(**told: Any) -> None:
        answers.write(json.dumps(told) + "\n")
        answers.flush()

    try:
        experiment = find(source)
        for line in orders:
            answer(**carried_out(experiment, json.loads(line), lambda step: answer(step=step)))
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
    if order["seconds"] is None:
        return {"outcome": asdict(measured(experiment, arm, trial))}
    step_s = arm.step_seconds(trial, order["seconds"])
    begun = time.perf_counter()
    measured(experiment, arm, replace(trial, steps=1))
    shutil.rmtree(scratch, ignore_errors=True)
    return {"price": {"fixed_s": max(time.perf_counter() - begun - step_s, 0.0), "step_s": step_s}}


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
        serve(sys.argv[1], sys.stdin, answers)


if __name__ == "__main__":
    main()
