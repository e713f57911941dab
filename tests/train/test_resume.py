"""A run that was stopped anywhere and gone on with is, bit by bit, the run that was never stopped."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import signal
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch

from clearformer.errors import RunError
from clearformer.messages import train as say
from clearformer.model import Model
from clearformer.runs.folder import RunFolder
from clearformer.runs.state import newest_state
from clearformer.train import events as e
from clearformer.train.loop import Trainer
from clearformer.train.metrics import read_metrics
from clearformer.train.recipe import EMA, Adam, Checkpoints, Compute, Muon, Noam, Watch
from clearformer.train.recipe_file import write_recipe
from learning.fingerprint import fingerprint
from learning.tiny import Counting, CountingRecipe, CountingTask, small_recipe

# Two batches an update and five an epoch: updates straddle epochs, and every save lies inside one.
RECIPE = small_recipe(accumulate=2, watch=Watch(evaluate=4, sample=3, save=3, log=1))


def trainer(path: Path, recipe: CountingRecipe, task: CountingTask | None = None, *, resume: bool = False) -> Trainer:
    run = RunFolder.open(path) if resume else RunFolder.create(path, write_recipe(recipe))
    return Trainer(task or CountingTask(), recipe, run, resume=resume)


def result(path: Path) -> tuple[str, str, bytes]:
    """SHA-256 of all tensors (weights, optimizer, averages, best, generators) and of the losses; the published file."""
    state = newest_state(RunFolder.open(path), pytest.fail)
    assert state is not None
    digest = hashlib.sha256()
    for name, tensor in sorted(state.tensors.items()):
        digest.update(name.encode() + tensor.numpy().tobytes())
    return digest.hexdigest(), fingerprint(path / "metrics.jsonl"), (path / "model.safetensors").read_bytes()


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, bytes]:
    path = tmp_path_factory.mktemp("whole") / "run"
    list(trainer(path, RECIPE).run())
    return result(path)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("moments", [(1,), (4, 5), (2, 7, 11), (12,)], ids=str)
def test_killed_and_gone_on_with(
    tmp_path: Path, uninterrupted: tuple[str, str, bytes], moments: tuple[int, ...], workers: int
) -> None:
    """The process is gone between two steps: nothing is saved then, and what was written since the save is cut."""
    recipe = replace(RECIPE, compute=replace(RECIPE.compute, workers=workers))
    run = trainer(tmp_path / "run", recipe)
    for moment in moments:
        events = run.run()
        for event in events:
            if isinstance(event, e.Stepped) and event.step == moment:
                break
        run.now.metrics.sync()
        events.close()  # type: ignore[attr-defined]
        run = trainer(tmp_path / "run", recipe, resume=True)
    list(run.run())
    assert result(tmp_path / "run") == uninterrupted


@dataclass
class Interrupted(CountingTask):
    """Sends itself a signal at the loss of the given batch of the run, or inside the next evaluation."""

    number: signal.Signals = signal.SIGTERM
    at: int = 0
    while_evaluating: bool = False

    def loss(self, model: Model, batch: Counting):  # type: ignore[no-untyped-def]
        if int(batch.number) == self.at:
            os.kill(os.getpid(), self.number)
        return super().loss(model, batch)

    def evaluate(self, model: Model, split: str = "validation", *, progress=None):  # type: ignore[no-untyped-def]
        if self.while_evaluating:
            os.kill(os.getpid(), self.number)
        return super().evaluate(model, split, progress=progress)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
@pytest.mark.parametrize("at", [2, 9, 10])
def test_a_signal_finishes_the_update_saves_and_says_why(
    tmp_path: Path, uninterrupted: tuple[str, str, bytes], at: int, number: signal.Signals
) -> None:
    before = signal.getsignal(number)
    events = list(trainer(tmp_path / "run", RECIPE, Interrupted(number=number, at=at)).run())
    stopped = (at + 1) // 2
    assert events[-1] == e.Stopped(stopped, number.name)  # type: ignore[arg-type]
    assert isinstance(events[-2], e.Saved)
    assert events[-2].step == stopped
    assert signal.getsignal(number) is before
    assert (tmp_path / "run" / "model.safetensors").exists()
    list(trainer(tmp_path / "run", RECIPE, resume=True).run())
    assert result(tmp_path / "run") == uninterrupted


def test_a_signal_that_the_process_was_started_to_ignore_stays_ignored(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        events = list(trainer(tmp_path / "run", RECIPE, Interrupted(number=signal.SIGINT, at=2)).run())
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert events[-1] == e.Stopped(12, "done")


def test_a_signal_to_all_processes_reaches_no_worker(tmp_path: Path, uninterrupted: tuple[str, str, bytes]) -> None:
    """A worker that a signal kills would take the update with it, or the save."""
    recipe = replace(RECIPE, compute=replace(RECIPE.compute, workers=2))
    events = []
    for event in trainer(tmp_path / "run", recipe).run():
        events.append(event)
        if isinstance(event, e.Stepped) and event.step == 4:
            workers = multiprocessing.active_children()
            assert len(workers) == 2
            for process in (*workers, multiprocessing.current_process()):
                assert process.pid is not None
                os.kill(process.pid, signal.SIGTERM)
            time.sleep(0.2)
            assert all(worker.is_alive() for worker in workers)
    assert events[-1] == e.Stopped(4, "SIGTERM")
    list(trainer(tmp_path / "run", recipe, resume=True).run())
    assert result(tmp_path / "run") == uninterrupted


def test_a_signal_leaves_an_evaluation_undone_until_the_run_goes_on(
    tmp_path: Path, uninterrupted: tuple[str, str, bytes]
) -> None:
    events = list(trainer(tmp_path / "run", RECIPE, Interrupted(while_evaluating=True)).run())
    assert events[-1] == e.Stopped(4, "SIGTERM")
    assert not any(isinstance(event, e.Evaluated) for event in events)
    events = list(trainer(tmp_path / "run", RECIPE, resume=True).run())
    assert [event.step for event in events if isinstance(event, e.Evaluated)] == [4, 8, 12]
    assert result(tmp_path / "run") == uninterrupted


def test_a_second_signal_while_saving_is_harmless(
    tmp_path: Path, uninterrupted: tuple[str, str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = os.fsync

    def disturbed(descriptor: int) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        fsync(descriptor)

    run = trainer(tmp_path / "run", RECIPE, Interrupted(at=10))
    monkeypatch.setattr(os, "fsync", disturbed)
    # Saving before the first signal is disturbed too: what is heard first is the reason.
    events = list(run.run())
    monkeypatch.undo()
    assert isinstance(events[-1], e.Stopped)
    assert events[-1].reason == "SIGINT"
    list(trainer(tmp_path / "run", RECIPE, resume=True).run())
    assert result(tmp_path / "run") == uninterrupted


@pytest.mark.parametrize(
    "changes",
    [
        {"optimizer": Muon(), "average": EMA(0.9)},
        {"optimizer": Adam(), "schedule": Noam(4), "average": Checkpoints(2)},
        {"compute": Compute(dtype="bfloat16", compile="no", kernel="sdpa", switch="no", checkpoint_activations=True)},
    ],
    ids=["Muon-EMA", "Adam-Noam-Checkpoints", "bfloat16-sdpa-recomputed"],
)
def test_every_optimizer_and_average_resumes(tmp_path: Path, changes: dict[str, object]) -> None:
    recipe = replace(RECIPE, **changes)  # type: ignore[arg-type]
    list(trainer(tmp_path / "whole", recipe).run())
    list(trainer(tmp_path / "run", recipe, Interrupted(at=15)).run())
    list(trainer(tmp_path / "run", recipe, resume=True).run())
    assert result(tmp_path / "run") == result(tmp_path / "whole")


def test_the_comparison_can_fail(tmp_path: Path, uninterrupted: tuple[str, str, bytes]) -> None:
    """A run whose random numbers are disturbed on resuming ends elsewhere: dropout is on and the hashes see it."""
    list(trainer(tmp_path / "run", RECIPE, Interrupted(at=9)).run())
    run = trainer(tmp_path / "run", RECIPE, resume=True)
    for event in run.run():
        if isinstance(event, e.Stepped) and event.step == 6:
            torch.rand(1)
    disturbed = result(tmp_path / "run")
    assert disturbed[0] != uninterrupted[0]
    assert disturbed[1] != uninterrupted[1]


def test_a_finished_run_resumes_to_its_end(tmp_path: Path, uninterrupted: tuple[str, str, bytes]) -> None:
    list(trainer(tmp_path / "run", RECIPE).run())
    assert list(trainer(tmp_path / "run", RECIPE, resume=True).run())[-1] == e.Stopped(12, "done")
    assert result(tmp_path / "run") == uninterrupted


def test_a_run_that_saved_nothing_starts_again(tmp_path: Path, uninterrupted: tuple[str, str, bytes]) -> None:
    events = trainer(tmp_path / "run", RECIPE).run()
    next(events)
    events.close()  # type: ignore[attr-defined]
    events = list(trainer(tmp_path / "run", RECIPE, resume=True).run())
    assert e.Noted(say.FROM_THE_START, {}) in events
    assert result(tmp_path / "run") == uninterrupted


def test_metrics_that_were_lost_are_named(tmp_path: Path) -> None:
    list(trainer(tmp_path / "run", RECIPE, Interrupted(at=10)).run())
    path = tmp_path / "run" / "metrics.jsonl"
    path.write_bytes(path.read_bytes()[:-7])
    events = trainer(tmp_path / "run", RECIPE, resume=True).run()
    notes = [event for event in events if isinstance(event, e.Noted)]
    (lost,) = [note for note in notes if note.message is say.METRICS_LOST]
    assert 7 < lost.values["lost"] < 300, "a record that lost its end is lost"  # type: ignore[operator]
    assert [record["step"] for record in read_metrics(path) if "loss" in record] == [*range(1, 5), *range(6, 13)]


def test_another_recipe_is_refused_field_by_field(tmp_path: Path) -> None:
    list(trainer(tmp_path / "run", RECIPE, Interrupted(at=10)).run())
    for changed, said in [
        (replace(RECIPE, steps=13), "steps is 12 there, 13 here"),
        (replace(RECIPE, optimizer=Adam(lr=0.01)), "optimizer.type is AdamW there, Adam here"),
        (replace(RECIPE, start=1), "start is 0 there, 1 here"),
    ]:
        with pytest.raises(RunError) as caught:
            next(trainer(tmp_path / "run", changed, resume=True).run())
        assert said in str(caught.value)


def test_a_state_of_another_model_is_refused(tmp_path: Path) -> None:
    class Wider(CountingTask):
        @property
        def spec(self):  # type: ignore[no-untyped-def]
            from clearformer.spec.presets import tiny_gpt

            return tiny_gpt(width=12, heads=2, layers=1, vocabulary=7, context=8)

    list(trainer(tmp_path / "run", RECIPE, Interrupted(at=10)).run())
    with pytest.raises(RunError) as caught:
        list(trainer(tmp_path / "run", RECIPE, Wider(), resume=True).run())
    assert caught.value.failure is say.STATE_DOES_NOT_FIT


def test_damage_falls_back_loudly_and_still_ends_alike(tmp_path: Path, uninterrupted: tuple[str, str, bytes]) -> None:
    list(trainer(tmp_path / "run", RECIPE, Interrupted(at=15)).run())
    newest = max((tmp_path / "run" / "state").iterdir())
    content = bytearray((newest / "tensors.safetensors").read_bytes())
    content[len(content) // 2] ^= 1
    (newest / "tensors.safetensors").write_bytes(content)
    events = list(trainer(tmp_path / "run", RECIPE, resume=True).run())
    assert isinstance(events[0], e.Noted)
    assert events[0].message is say.STATE_DAMAGED
    assert events[0].warning
    assert result(tmp_path / "run") == uninterrupted
