"""The station of the tour that asks: one experiment, its steps fixed so that every machine shows the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clearformer.cli import lab as lab_verb
from clearformer.cli.journey import Journey
from clearformer.messages import lab_machine
from clearformer.messages import tour as say

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from clearformer.lab.running import Crew

NAME, STEPS, SEEDS = "no-mask", 500, 3
EXPECTED = ("so",)
"""What must be found of the source's claim."""


def ask(journey: Journey, path: Path) -> None:
    """A decoder that sees the answer gets everything right, and has learnt nothing."""
    from clearformer.lab.experiments import find
    from clearformer.lab.notebook import Notebook
    from clearformer.lab.picture import draw
    from clearformer.lab.running import Settings, run

    screen, notebook = journey.screen, Notebook(path)
    experiment = replace(find(NAME), steps=STEPS, seeds=SEEDS)
    with notebook.lock(), screen.progress(lab_machine.RUNNING, name=NAME) as advance:
        report = run(experiment, notebook, Settings(), hire, lambda *_, **__: None, advance)
    picture, _ = draw(notebook.picture, report, screen.language)
    journey.told["experiment"] = {**report.facts(screen.language), "folder": str(path), "files": [str(picture)]}
    journey.show(lambda: lab_verb.show(report, screen))
    journey.say(say.PICTURE, path=picture)
    if any(held not in EXPECTED for _, held in report.claims):
        journey.failed.append("experiment")


def hire(count: int) -> AbstractContextManager[Crew]:
    """So many processes of the experiment's own."""
    from clearformer.lab.team import team_of

    return team_of(NAME, count)
