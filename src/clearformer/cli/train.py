"""`clearformer train TASK`: from the user's files to a run folder that every other verb reads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from clearformer.cli import boundary
from clearformer.cli.environment import recipe_overrides
from clearformer.cli.flags import Overrides, Progressing, Spoken
from clearformer.cli.screen import Screen
from clearformer.cli.watching import Watching, doctor_for
from clearformer.errors import UsageError
from clearformer.messages import train_verb as say

if TYPE_CHECKING:
    from clearformer.runs.folder import RunFolder
    from clearformer.train.estimate import Estimate
    from clearformer.train.recipe import Recipe

train = App(name="train")
EXIT_CODES = {"SIGINT": boundary.INTERRUPTED, "SIGTERM": boundary.TERMINATED, "SIGUSR1": boundary.REQUEUED}


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Training(Progressing):
    """What every task's training can be told."""

    config: Annotated[Path | None, Parameter(alias="-c")] = None
    """A recipe file (YAML). Flags and dotted options such as --optimizer.lr 3e-4 go before environment variables such as CLEARFORMER__OPTIMIZER__LR=3e-4, and these before the file."""  # noqa: E501
    steps: int | None = None
    """Updates to make."""
    budget: str | None = None
    """Train for about this long instead of --steps, such as 90s, 10m or 1h."""
    accumulate: int | None = None
    """Batches that make one update together, weighed by their real tokens."""
    clip: float | None = None
    """The longest gradient; a longer one is shortened to it."""
    out: Path | None = None
    """The run folder; runs/TASK-1, -2, … if left out."""
    resume: bool = False
    """Go on with the run in --out from its last saved state."""
    seed: int | None = None
    """Start of the random numbers."""
    device: str | None = None
    """Where to compute: cpu, cuda, cuda:1, mps."""
    dtype: Literal["float32", "bfloat16", "auto"] | None = None
    """Compute in this number type; weights stay float32."""
    threads: int | None = None
    """Processor threads to compute with; one a core if left out."""
    tracker: Literal["tensorboard", "trackio"] | None = None
    """Send the figures to this program as well; it must be installed."""
    doctor: bool = False
    """Speak up when a law of a training's course breaks, such as a loss that stays at ln V."""
    dry_run: bool = False
    """Reckon parameters, memory, data and time, and train nothing."""
    print_config: bool = False
    """Print the whole recipe as YAML, and train nothing."""


Data = Annotated[str | None, Parameter(name="--data")]
TRAINING = Training()


@train.command
def language(
    *,
    data: Annotated[
        Data,
        Parameter(help="Text to learn: a .txt or .jsonl file, a folder, or tinyshakespeare, pydoc, cyclic, chance."),
    ] = None,
    flags: Training = TRAINING,
    overrides: Overrides = (),
    language: Spoken = "en",
) -> int:
    """Train a model that continues text."""
    return _train("language", {"data.path": data}, flags, overrides, Screen(language, flags))


@train.command
def masked(
    *,
    data: Annotated[Data, Parameter(help="Text to learn: a .txt or .jsonl file, a folder, or a named set.")] = None,
    masked: Annotated[float | None, Parameter(help="The share of the tokens to guess; 0.15 if left out.")] = None,
    flags: Training = TRAINING,
    overrides: Overrides = (),
    language: Spoken = "en",
) -> int:
    """Train a model that fills gaps in text, as BERT does."""
    return _train("masked", {"data.path": data, "masked": masked}, flags, overrides, Screen(language, flags))


@train.command
def translation(
    *,
    data: Annotated[Data, Parameter(help="A named set of parallel text: multi30k.")] = None,
    src: Annotated[str | None, Parameter(help="Sentences to translate, one a line.")] = None,
    tgt: Annotated[str | None, Parameter(help="Their translations, line by line.")] = None,
    vocab: Annotated[
        Literal["shared", "separate"] | None, Parameter(help="One vocabulary for both languages, or one for each.")
    ] = None,
    scheduled_sampling: Annotated[
        float | None,
        Parameter(help="The share of the target's words that the decoder reads as it would put them."),
    ] = None,
    flags: Training = TRAINING,
    overrides: Overrides = (),
    language: Spoken = "en",
) -> int:
    """Train a model that translates: the paper's encoder and decoder."""
    files = {"data.name": data, "data.source": src, "data.target": tgt}
    given = {**files, "data.vocabulary": vocab, "scheduled_sampling": scheduled_sampling}
    return _train("translation", given, flags, overrides, Screen(language, flags))


@train.command
def forecasting(
    *,
    data: Annotated[Data, Parameter(help="A CSV file with a column of dates, or ett, sine.")] = None,
    target: Annotated[str | None, Parameter(help="Forecast this column alone; every column if left out.")] = None,
    horizon: Annotated[int | None, Parameter(help="Steps to forecast.")] = None,
    flags: Training = TRAINING,
    overrides: Overrides = (),
    language: Spoken = "en",
) -> int:
    """Train a model that forecasts series of numbers."""
    given = {"data.path": data, "data.target": target, "data.horizon": horizon}
    return _train("forecasting", given, flags, overrides, Screen(language, flags))


@train.command
def classification(
    *,
    data: Annotated[Data, Parameter(help="A TSV, CSV or JSONL file of texts and labels, or sst2.")] = None,
    flags: Training = TRAINING,
    overrides: Overrides = (),
    language: Spoken = "en",
) -> int:
    """Train a model that sorts texts into classes."""
    return _train("classification", {"data.path": data}, flags, overrides, Screen(language, flags))


@train.command
def vision(
    *,
    data: Annotated[
        Data, Parameter(help="A folder with one folder of images a class, an .npz file, or digits.")
    ] = None,
    flags: Training = TRAINING,
    overrides: Overrides = (),
    language: Spoken = "en",
) -> int:
    """Train a model that sorts images into classes: the Vision Transformer."""
    return _train("vision", {"data.path": data}, flags, overrides, Screen(language, flags))


def _train(task: str, given: dict[str, Any], flags: Training, overrides: Overrides, screen: Screen) -> int:
    """0, or the code of the signal that ended it early."""
    from clearformer.runs.folder import RunFolder, next_free
    from clearformer.tasks.registry import recipe_type
    from clearformer.train.recipe_file import read_recipe, write_recipe

    chosen = [(name, str(value)) for name, value in {**given, **_chosen(flags)}.items() if value is not None]
    settings = _one_length([recipe_overrides(os.environ), [*chosen, *overrides]])
    kept = _kept_recipe(flags)
    recipe = read_recipe(recipe_type(task), kept or flags.config, settings)
    if flags.print_config:
        screen.text(write_recipe(recipe).rstrip())
        return 0
    _require_possible(recipe, flags)
    if flags.dry_run:
        return _reckon(task, recipe, flags, screen)
    out = flags.out or next_free(task)
    run = RunFolder.open(out) if flags.resume else RunFolder.create(out, write_recipe(recipe))
    with run.lock():
        return _run(task, recipe, run, flags, screen)


def _require_possible(recipe: Recipe, flags: Training) -> None:
    """Whatever the call alone shows to be wrong is said before data are read or a folder is made."""
    import clearformer.machine as machine
    from clearformer.tasks.registry import require_named
    from clearformer.train.recipe_checks import check_length, check_recipe
    from clearformer.train.trackers import require_tracker

    check_recipe(recipe)
    check_length(recipe)
    machine.use_threads(recipe.compute.threads)
    machine.checked_device(recipe.compute.device)
    require_named(recipe)
    if flags.tracker is not None:
        require_tracker(flags.tracker)


def _run(task: str, recipe: Recipe, run: RunFolder, flags: Training, screen: Screen) -> int:
    screen.note(say.READING_DATA)
    with nullcontext() if flags.resume else _emptied_if_refused(run):
        # Inside: a signal may come while they load, which takes seconds.
        from clearformer.cli.following import followed
        from clearformer.tasks.registry import open_task
        from clearformer.train.loop import Trainer

        opened = open_task(recipe, run.path)
        trainer = Trainer(opened, recipe, run, resume=flags.resume)
        for name, count in opened.sizes().items():
            screen.note(say.SIZE, name=name, count=count)
        doctor = doctor_for(opened.spec) if flags.doctor else None
        with Watching(screen, opened.metric, opened.unit, doctor) as watching:
            for event in followed(trainer.run(), recipe, run, config=flags.config, tracker=flags.tracker):
                watching.see(event)
    if screen.as_json:
        screen.json(watching.contents(run.path))
    else:
        watching.tell()
        screen.text(str(run.path))
    assert watching.stopped is not None
    return EXIT_CODES.get(watching.stopped.reason, 0)


@contextmanager
def _emptied_if_refused(run: RunFolder) -> Iterator[None]:
    """What was made for a run that made no update goes again, so that the mended call finds its folder free."""
    try:
        yield
    except BaseException:
        metrics = run.metrics_path
        if not run.state_path.exists() and not (metrics.exists() and metrics.stat().st_size):
            run.empty()
        raise


def _one_length(levels: list[list[tuple[str, str]]]) -> list[tuple[str, str]]:
    """The levels, weakest first, as one list: where one gives `steps`, it puts out a weaker one's `budget`, and
    likewise the other way round."""
    settings: list[tuple[str, str]] = []
    for level in levels:
        given = {name for name, _ in level} & {"steps", "budget"}
        for name in {"steps", "budget"} - given if len(given) == 1 else ():
            settings = [*(each for each in settings if each[0] != name), (name, "null")]
        settings += level
    return settings


def _chosen(flags: Training) -> dict[str, Any]:
    """The recipe's fields that have flags of their own."""
    if flags.steps is not None and flags.budget is not None:
        raise UsageError(say.STEPS_OR_BUDGET)
    return {
        "steps": flags.steps,
        "budget": flags.budget,
        "accumulate": flags.accumulate,
        "clip": flags.clip,
        "seed": flags.seed,
        "compute.device": flags.device,
        "compute.dtype": flags.dtype,
        "compute.threads": flags.threads,
    }


def _kept_recipe(flags: Training) -> Path | None:
    """With --resume, the recipe that the run was started with."""
    if not flags.resume:
        return None
    if flags.out is None:
        raise UsageError(say.RESUME_WHAT)
    if flags.config is not None:
        raise UsageError(say.RESUME_KEEPS_RECIPE)
    from clearformer.runs.folder import RunFolder

    return RunFolder.open(flags.out).recipe_path


def _reckon(task: str, recipe: Recipe, flags: Training, screen: Screen) -> int:
    import tempfile

    from clearformer.tasks.registry import open_task
    from clearformer.train.estimate import estimate

    screen.note(say.READING_DATA)
    with tempfile.TemporaryDirectory(prefix="clearformer-") as folder:
        opened = open_task(recipe, Path(folder))
        screen.note(say.TRYING)
        found: Estimate = estimate(opened, recipe)
    if screen.as_json:
        screen.json(found.facts())
        return 0
    for message, values in found.lines():
        screen.say(message, **values)
    return 0
