"""The folder of an experiment: what was planned, and each trial's outcome in a file of its own.

experiment.json   name, arms in full, seeds, budget, steps, timings    results/    ARM--SEED.json, whole or not there
data/, scratch/   what trials read; trials under way                   plot.png, lock
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from clearformer.checkpoint.atomic import TEMPORARY, write_bytes
from clearformer.checkpoint.reading import read_json
from clearformer.errors import RunError
from clearformer.lab.experiment import Experiment, Outcome, Price
from clearformer.messages import lab_machine as say
from clearformer.runs.lock import locked

PLAN, RESULTS = "experiment.json", "results"
MOST_BYTES = 16_000_000


@dataclass(frozen=True)
class Plan:
    """What all trials have in common, settled once. `arms` describes each arm as it was when the experiment began."""

    experiment: str
    arms: Mapping[str, str]
    seeds: int
    budget: float
    steps: int
    threads: int
    prices: Mapping[str, Price]
    facts: Mapping[str, Mapping[str, int]]


class Notebook:
    """An experiment's folder; `lock` is held by whoever works in it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def data(self) -> Path:
        return self.path / "data"

    @property
    def picture(self) -> Path:
        return self.path / "plot.png"

    def scratch(self, arm: str, seed: int) -> Path:
        return self.path / "scratch" / f"{arm}--{seed}"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Work here alone. Raises RunError for a folder that cannot be made, is another's, or is in use."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            known = {PLAN, RESULTS, "data", "scratch", "lock", "plot.png"}
            foreign = next((each.name for each in self.path.iterdir() if each.name not in known), None)
        except OSError as error:
            raise RunError(say.CANNOT_CREATE, path=self.path, detail=error.strerror) from error
        if foreign is not None and not foreign.startswith(TEMPORARY):
            raise RunError(say.NOT_A_NOTEBOOK, path=self.path, found=foreign)
        with locked(self.path / "lock"):
            for left in [*self.path.glob(f"{TEMPORARY}*"), *self.path.glob(f"{RESULTS}/{TEMPORARY}*")]:
                left.unlink()
            for folder in (self.data, self.path / RESULTS):
                folder.mkdir(exist_ok=True)
            yield

    def plan(self) -> Plan | None:
        """What was planned here; None where nothing is yet. Raises RunError for a file that holds no plan."""
        found = self._read(self.path / PLAN)
        if found is None:
            return None
        try:
            prices = {str(name): Price(**price) for name, price in found.pop("prices").items()}
            return Plan(**found, prices=prices)
        except (TypeError, AttributeError, KeyError):
            raise RunError(say.PLAN_DAMAGED, path=self.path / PLAN) from None

    def keep_plan(self, plan: Plan) -> None:
        write_bytes(self.path / PLAN, json.dumps(asdict(plan), indent=1).encode())

    def start_over(self, plan: Plan) -> None:
        """Another plan, and away with what was run by the old one."""
        for folder in (self.path / RESULTS, self.path / "scratch"):
            shutil.rmtree(folder, ignore_errors=True)
        (self.path / RESULTS).mkdir(exist_ok=True)
        self.keep_plan(plan)

    def outcome(self, arm: str, seed: int) -> Outcome | None:
        """What that trial measured; None where it has not ended. Raises RunError for a file that holds no outcome."""
        path = self._result(arm, seed)
        found = self._read(path)
        if found is None:
            return None
        try:
            figures = {str(name): float(value) for name, value in found["figures"].items()}
            curves = {str(name): (x, y) for name, (x, y) in found["curves"].items()}
            return Outcome(figures, curves, bool(found["diverged"]))
        except (TypeError, AttributeError, KeyError, ValueError):
            raise RunError(say.PLAN_DAMAGED, path=path) from None

    def keep(self, arm: str, seed: int, outcome: Outcome) -> None:
        """Write an outcome; what the trial needed to go on is then needed no more."""
        write_bytes(self._result(arm, seed), json.dumps(asdict(outcome), allow_nan=False).encode())
        shutil.rmtree(self.scratch(arm, seed), ignore_errors=True)

    def tidy(self) -> None:
        """Away with what only a running experiment needs."""
        shutil.rmtree(self.path / "scratch", ignore_errors=True)
        shutil.rmtree(self.data, ignore_errors=True)

    def _result(self, arm: str, seed: int) -> Path:
        return self.path / RESULTS / f"{arm}--{seed}.json"

    def _read(self, path: Path) -> dict[str, Any] | None:
        return read_json(path, MOST_BYTES) if path.is_file() else None


def described(experiment: Experiment) -> dict[str, str]:
    """Each arm in full, for the record; a folder's trials compare with those of the same arms alone."""
    return {arm.name: arm.described() for arm in experiment.arms}
