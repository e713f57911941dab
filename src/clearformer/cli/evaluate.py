"""`clearformer evaluate RUN`: a trained model's figures on data that it has not learnt from."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen
from clearformer.cli.speaking import COMPUTING, Computing
from clearformer.messages import train_verb as say

Run = Annotated[str, Parameter(help="A run folder, or its name under runs/.")]
Part = Annotated[
    Literal["validation", "test"], Parameter(help="Which part of the data to judge on; no choice is made on test.")
]
Batch = Annotated[int | None, Parameter(help="How much to read at once; the figures are the same for every size.")]


def evaluate(
    run: Run,
    /,
    *,
    split: Part = "validation",
    batch: Batch = None,
    flags: Computing = COMPUTING,
    language: Spoken = "en",
) -> None:
    """Print the run's figures."""
    import clearformer.machine as machine
    from clearformer.tasks.evaluation import evaluate as judge

    screen = Screen(language, flags)
    machine.use_threads(flags.threads)
    device, dtype = machine.checked_device(flags.device), machine.checked_dtype(flags.dtype, flags.device)
    with screen.progress(say.EVALUATING) as advance:
        found = judge(run, split, batch=batch, device=device, dtype=dtype, progress=advance)
    if screen.as_json:
        screen.json({"task": found.task, "split": found.split, "metrics": dict(found.metrics), "n": found.n})
        return
    screen.say(say.EVALUATION, task=found.task, split=found.split, n=found.n)
    screen.table([(name, f"{value:.4f}") for name, value in found.metrics.items()])
