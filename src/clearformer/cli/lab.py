"""`clearformer lab [NAME]`: what happens if one thing is another? Measured over seeds, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from clearformer.cli.drawing import note_missing
from clearformer.cli.flags import Progressing, Spoken
from clearformer.cli.screen import Screen
from clearformer.errors import UsageError
from clearformer.messages import lab_machine as say
from clearformer.messages import train as say_of_training

if TYPE_CHECKING:
    from clearformer.lab.notebook import Notebook
    from clearformer.lab.report import Report

Name = Annotated[
    str | None, Parameter(help="An experiment, or a .yaml file of your own; without it, all experiments are listed.")
]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Experimenting(Progressing):
    """How an experiment is run."""

    list: bool = False
    """List the experiments, and run none."""
    seeds: int | None = None
    """Trials of each arm, each with other random numbers [5]."""
    budget: str | None = None
    """How long the whole experiment may take, such as 90s, 3m or 1h [3m]; turned once into equal steps for every arm."""  # noqa: E501
    out: Path | None = None
    """The experiment's folder; one that was cut off goes on, one that is done is shown. runs/lab-NAME-1, -2, … if left out."""  # noqa: E501
    workers: int | None = None
    """Processes that run trials side by side; one a core if left out."""


EXPERIMENTING = Experimenting()


def lab(name: Name = None, /, *, flags: Experimenting = EXPERIMENTING, language: Spoken = "en") -> None:
    """Print a table with intervals and a verdict; the last line is the picture's path."""
    begun, screen = monotonic(), Screen(language, flags)
    if flags.list and name is not None:
        raise UsageError(say.LIST_AND_NAME, found=name)
    if name is None:
        _list(screen)
        return
    report, notebook = _run(name, flags, screen, begun)
    from clearformer.lab.picture import draw

    picture, missing = draw(notebook.picture, report, language)
    note_missing(missing, picture, screen)
    if screen.as_json:
        screen.json({**report.facts(language), "folder": str(notebook.path), "files": [str(picture)]})
        return
    show(report, screen)
    print(picture)


def _list(screen: Screen) -> None:
    from clearformer.lab.experiments import TITLES

    rows = [(name, title.text(screen.language)) for name, title in TITLES.items()]
    if screen.as_json:
        screen.json({"experiments": [{"name": name, "title": title} for name, title in rows]})
    else:
        screen.table(rows)


def _run(name: str, flags: Experimenting, screen: Screen, begun: float) -> tuple[Report, Notebook]:
    from clearformer.lab.experiments import find
    from clearformer.lab.notebook import Notebook
    from clearformer.lab.running import Settings, run
    from clearformer.lab.team import team_of
    from clearformer.runs.folder import next_free

    experiment = find(name)
    notebook = Notebook(flags.out or next_free(f"lab-{experiment.name}"))
    settings = Settings(flags.seeds, _seconds(flags.budget), flags.workers, begun)
    with notebook.lock(), screen.progress(say.RUNNING, name=experiment.name) as advance:
        screen.note(say.FOLDER, path=notebook.path)
        hire = partial(team_of, name)
        return run(experiment, notebook, settings, hire, screen.note, advance), notebook


def _seconds(budget: str | None) -> float | None:
    from clearformer.train.recipe_file import seconds_of

    if budget is None:
        return None
    found = seconds_of(budget)
    if not isinstance(found, float) or not 0 < found < float("inf"):
        raise UsageError(say_of_training.BAD_BUDGET, found=budget)
    return found


def show(report: Report, screen: Screen) -> None:
    """The table and the verdict; then what a source claims, and what was found of it."""
    from clearformer.lab.interval import LEVEL
    from clearformer.lab.report import shown

    experiment, language = report.experiment, screen.language
    screen.say(experiment.title)
    screen.say(experiment.about)
    seeds = len(report.arms[0].outcomes)
    counts = {
        "arms": say.arms_of(len(report.arms)),
        "seeds": say.seeds_of(seeds),
        "steps": say.steps_of(report.plan.steps),
    }
    screen.say(say.SETTING if seeds > 1 else say.SETTING_OF_ONE, level=round(100 * LEVEL), **counts)
    if (fairness := report.fairness(language)) is not None:
        print(fairness)
    known = [name for name in say.FACTS if name in report.arms[0].facts]
    differ = [name for name in known if len({arm.facts[name] for arm in report.arms}) > 1]
    named = [name for name in known if name in (*experiment.equal, *differ)]
    headings = [say.ARM, *(figure.label for figure in experiment.figures), *(say.FACTS[name] for name in named)]
    rows = [
        [
            arm.arm.label.text(language),
            *(shown(arm.intervals.get(figure.name), figure) for figure in experiment.figures),
            *(f"{arm.facts[name]:,}" for name in named),
        ]
        for arm in report.arms
    ]
    print()
    screen.table(rows, [heading.text(language) for heading in headings])
    print()
    print(report.verdict(language))
    for claim, held in report.claims:
        screen.say(say.CLAIM, says=claim.says, held=say.HELD[held])
