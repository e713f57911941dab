"""`clearformer evaluate RUN`: a trained model's figures on data that it has not learnt from."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen
from clearformer.cli.speaking import COMPUTING, Computing
from clearformer.errors import UsageError
from clearformer.messages import train_verb as say

if TYPE_CHECKING:
    from clearformer.tasks.evaluation import Run as OpenRun

Run = Annotated[str, Parameter(help="A run folder, or its name under runs/.")]
Part = Annotated[
    Literal["validation", "test"], Parameter(help="Which part of the data to judge on; no choice is made on test.")
]
Batch = Annotated[int | None, Parameter(help="How much to read at once; the figures are the same for every size.")]

Picture = Annotated[
    Path | None,
    Parameter(name="--plot", help="Draw which classes are taken for which into this file (.png or .svg)."),
]

WITH_CLASSES = ("classification", "vision")


def evaluate(
    run: Run,
    /,
    *,
    split: Part = "validation",
    batch: Batch = None,
    plot: Picture = None,
    flags: Computing = COMPUTING,
    language: Spoken = "en",
) -> None:
    """Print the run's figures."""
    import clearformer.machine as machine
    from clearformer.tasks.evaluation import evaluate_run, open_run

    screen = Screen(language, flags)
    machine.use_threads(flags.threads)
    device, dtype = machine.checked_device(flags.device), machine.checked_dtype(flags.dtype, flags.device)
    opened = open_run(run, batch=batch, device=device, dtype=dtype)
    if plot is not None and opened.task.name not in WITH_CLASSES:
        raise UsageError(say.NO_CLASSES_TO_DRAW, task=opened.task.name)
    with screen.progress(say.EVALUATING) as advance:
        found = evaluate_run(opened, split, progress=advance)
    signature = _signature(opened)
    picture = None if plot is None else _drawn(opened, split, plot, language)
    if screen.as_json:
        metrics = {name: value if math.isfinite(value) else None for name, value in found.metrics.items()}
        contents = {"task": found.task, "split": found.split, "metrics": metrics, "n": found.n}
        screen.json({**contents, "signature": signature, "plot": picture and str(picture)})
        return
    screen.say(say.EVALUATION, task=found.task, split=found.split, n=found.n)
    screen.table([(name, f"{value:.4f}") for name, value in found.metrics.items()])
    if signature is not None:
        screen.say(say.SIGNATURE, signature=signature)
    if picture is not None:
        screen.text(str(picture))


def _signature(opened: OpenRun) -> str | None:
    """sacreBLEU's account of how the BLEU was computed, for a translation."""
    if opened.task.name != "translation":
        return None
    from clearformer.tasks.translation import TranslationTask, bleu_signature

    assert isinstance(opened.task, TranslationTask)
    return bleu_signature(lowercase=opened.task.recipe.data.lowercase)


def _drawn(opened: OpenRun, split: Literal["validation", "test"], plot: Path, language: Spoken) -> Path:
    from clearformer.tasks.classes import confusion
    from clearformer.tasks.classification import ClassificationTask
    from clearformer.tasks.confusion_picture import draw_confusion
    from clearformer.tasks.vision import VisionTask

    assert isinstance(opened.task, ClassificationTask | VisionTask)
    logits, labels = opened.task.predict(opened.loaded.model, split)
    matrix = confusion(logits.argmax(1), labels, logits.shape[1])
    return draw_confusion(plot, matrix, opened.task.classes, language=language)
