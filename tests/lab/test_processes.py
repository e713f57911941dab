"""Real worker processes: an experiment that is killed goes on and ends with the numbers of one that was not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pytest

from clearformer.errors import MachineError, UsageError
from clearformer.lab.experiment import Experiment
from clearformer.lab.experiments import find
from clearformer.lab.notebook import Notebook
from clearformer.lab.report import Report
from clearformer.lab.running import Crew, Settings, run
from clearformer.lab.team import order_of, team_of
from lab.lab_trials import Here

OWN = """
name: toy
recipe:
  type: LanguageRecipe
  steps: {steps}
  data: {{path: cyclic, context: 16, batch: 2}}
  model: {{type: Gpt, width: 8, heads: 2, layers: 1, dropout: 0.1}}
  compute: {{compile: no, kernel: sdpa, switch: no}}
arms:
  tied: {{}}
  untied: {{spec.head.tied: false}}
"""
Hire = Callable[[int], AbstractContextManager[Crew]]
PROGRAM = "import sys; from clearformer.cli.main import main; sys.exit(main())"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "toy.yaml"
    path.write_text(OWN.format(steps=60))
    return path


def ran(own: Path, folder: Path, hire: Hire | None = None) -> Report:
    """In this process, unless workers are hired."""
    experiment: Experiment = find(str(own))
    notebook = Notebook(folder)
    settings = Settings(seeds=1, workers=1)
    with notebook.lock():
        return run(
            experiment, notebook, settings, hire or Here(experiment).hired, lambda *_, **__: None, lambda *_: None
        )


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_experiment_goes_on_and_ends_alike(own: Path, tmp_path: Path, sent: signal.Signals) -> None:
    whole = ran(own, tmp_path / "whole")
    cut = tmp_path / "cut"
    command = [sys.executable, "-c", PROGRAM, "lab", str(own), "--seeds", "1", "--workers", "1", "--out", str(cut)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    begun = cut / "scratch" / "tied--0" / "state"
    while process.poll() is None and not any(begun.glob("step-*")):
        time.sleep(0.02)
    process.send_signal(sent)
    process.wait()
    assert len(list((cut / "results").iterdir())) < 2
    assert ran(own, cut).facts("en") == whole.facts("en")
    assert sorted(each.name for each in (cut / "results").iterdir()) == ["tied--0.json", "untied--0.json"]
    assert not (cut / "scratch").exists()


def test_a_worker_without_a_master_ends(own: Path, tmp_path: Path) -> None:
    ends_in, begins_out = os.pipe()
    command = [sys.executable, "-m", "clearformer.lab.worker", str(own)]
    worker = subprocess.Popen(command, stdin=ends_in, stdout=subprocess.DEVNULL)
    os.close(ends_in)
    os.close(begins_out)
    assert worker.wait(60) == 0


def test_an_error_of_a_worker_is_raised_here_in_both_languages(tmp_path: Path) -> None:
    path = tmp_path / "toy.yaml"
    path.write_text(OWN.format(steps=1).replace("name: toy", "name: toy\nmetric: los"))
    with pytest.raises(UsageError) as caught:
        ran(path, tmp_path / "out", partial(team_of, str(path)))
    assert "measures no los. Did you mean loss?" in caught.value.cause()
    assert "该任务不测量 los" in caught.value.cause("zh")


def test_a_worker_that_dies_is_named(own: Path, tmp_path: Path) -> None:
    notebook = Notebook(tmp_path / "out")
    with team_of("no-such-experiment", 1) as team, pytest.raises(UsageError, match="No experiment is called"):
        team.carry_out([order_of(notebook, "a", 0, 1, 1)], lambda order, told: None)
    with pytest.raises(MachineError, match="StopIteration"), team_of(str(own), 1) as team:
        team.carry_out([order_of(notebook, "a", 0, 1, 1)], lambda order, told: None)
