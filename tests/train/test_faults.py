"""Processes killed and ended at random moments of training: gone on with, they end bit for bit where an undisturbed one
does. Dropout is on, an update has two batches, updates straddle epochs."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import random
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from clearformer.checkpoint.atomic import TEMPORARY
from clearformer.runs.folder import RunFolder
from clearformer.runs.state import newest_state
from clearformer.train.metrics import read_metrics
from learning import victim
from learning.fingerprint import fingerprint


@dataclass(frozen=True)
class Outcome:
    """SHA-256 of what a run ended with."""

    weights: str
    optimizer: str
    generator: str
    best: str
    losses: str
    published: str


def outcome(path: Path) -> Outcome:
    state = newest_state(RunFolder.open(path), pytest.fail)
    assert state is not None
    assert state.step == victim.STEPS
    digests = {}
    for group in ("weights", "optimizer", "generator", "best"):
        named = sorted((name, tensor) for name, tensor in state.tensors.items() if name.startswith(f"{group}/"))
        assert named
        digest = hashlib.sha256()
        for name, tensor in named:
            digest.update(name.encode() + tensor.numpy().tobytes())
        digests[group] = digest.hexdigest()
    steps = [record["step"] for record in read_metrics(path / "metrics.jsonl") if "loss" in record]
    assert steps == list(range(1, victim.STEPS + 1)), "no step is lost or written twice"
    published = hashlib.sha256((path / "model.safetensors").read_bytes()).hexdigest()
    return Outcome(**digests, losses=fingerprint(path / "metrics.jsonl"), published=published)


# Processes forked from one that has read the libraries already: reading them would be most of the test's time.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["clearformer.train.loop"])
Told = tuple[str, int, str]


@dataclass(frozen=True)
class Victim:
    """A run in a process of its own, and what it tells."""

    process: Any
    told: Connection

    def next(self) -> Told:
        """Its next event. Raises EOFError at its end."""
        told: Told = self.told.recv()
        return told

    def rest(self) -> list[Told]:
        """Wait for its end; what it told that was not heard yet. Its workers may hold the pipe open a little longer."""
        self.process.join(200)
        assert self.process.exitcode is not None
        heard = []
        with suppress(EOFError):
            while self.told.poll():
                heard.append(self.next())
        return heard


def start(path: Path, workers: int) -> Victim:
    told, tell = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=victim.train, args=(path, workers, tell))
    process.start()
    tell.close()
    return Victim(process, told)


def finish(path: Path, workers: int) -> None:
    assert start(path, workers).rest()[-1:] == [("Stopped", victim.STEPS, "done")]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    path = tmp_path_factory.mktemp("whole") / "run"
    finish(path, 0)
    return outcome(path)


def disturbed(run: Victim, number: signal.Signals, draw: random.Random) -> list[Told]:
    """Send the signal after a number of steps and a time that are drawn, a save included; all that the run told."""
    heard, patience = [], draw.randrange(victim.STEPS // 3)
    with suppress(EOFError):
        while patience >= 0:
            heard.append(run.next())
            patience -= heard[-1][0] == "Stepped"
        time.sleep(draw.uniform(0, 0.03))
        os.kill(run.process.pid, number)
    return heard + run.rest()


def last(heard: list[Told], kind: str) -> int:
    return max((step for found, step, _ in heard if found == kind), default=0)


MANY = pytest.mark.long


@pytest.mark.parametrize(
    ("workers", "kills"),
    [(0, 2), (2, 2), pytest.param(0, 15, marks=MANY), pytest.param(2, 15, marks=MANY)],
)
def test_killed_at_random_moments(tmp_path: Path, undisturbed: Outcome, workers: int, kills: int) -> None:
    draw, path, felt = random.Random(100 * workers + kills), tmp_path / "run", 0
    for number in range(kills):
        if number % 5 == 4:  # a run has only so many steps to be killed in
            path = tmp_path / f"run-{number}"
        run = start(path, workers)
        heard = disturbed(run, signal.SIGKILL, draw)
        felt += run.process.exitcode == -signal.SIGKILL
        state = newest_state(RunFolder.open(path), pytest.fail)
        assert (state.step if state else 0) >= last(heard, "Saved"), "what was acknowledged is there"
        if number % 5 == 3 or number == kills - 1:
            finish(path, workers)
            assert outcome(path) == undisturbed
            assert not list(path.rglob(f"{TEMPORARY}*"))
    assert felt > kills // 2, "most kills came too late: the test has lost its point"


@pytest.mark.parametrize(
    ("workers", "signals"),
    [(0, 2), (2, 1), pytest.param(0, 10, marks=MANY), pytest.param(2, 10, marks=MANY)],
)
def test_ended_at_random_moments(tmp_path: Path, undisturbed: Outcome, workers: int, signals: int) -> None:
    """SIGTERM finishes the update, saves and says so: no step is done twice."""
    draw, path, felt = random.Random(7 * workers + signals), tmp_path / "run", 0
    for number in range(signals):
        if number % 5 == 4:
            path = tmp_path / f"run-{number}"
        run = start(path, workers)
        heard = disturbed(run, signal.SIGTERM, draw)
        assert run.process.exitcode == 0
        assert heard[-1][0] == "Stopped"
        felt += heard[-1][2] == "SIGTERM"
        state = newest_state(RunFolder.open(path), pytest.fail)
        assert state is not None
        assert state.step == last(heard, "Stepped") == last(heard, "Saved") == last(heard, "Stopped")
        if number % 5 == 3 or number == signals - 1:
            finish(path, workers)
            assert outcome(path) == undisturbed
    assert felt > signals // 2, "most signals came too late: the test has lost its point"
