"""A training watched while it goes on: a loop of one's own, Hugging Face's Trainer, a run's file that grows."""

from __future__ import annotations

import json
import math
import threading
import time
from pathlib import Path

import pytest
import torch
from torch import nn

from clearformer.cli import doctor_watching
from clearformer.cli.main import main
from clearformer.doctor.finding import Breach
from clearformer.doctor.watching import Watch, Watcher, sentence, trainer_callback
from clearformer.errors import DiagnosisError

LN_V = math.log(50)


def taught(*, learns: bool, told: list[Breach], stop: bool = False) -> None:
    """A line is fitted, or its optimizer holds other weights than the model's."""
    torch.manual_seed(0)
    model = nn.Linear(4, 50)
    moved = model if learns else nn.Linear(4, 50)
    optimizer = torch.optim.SGD(moved.parameters(), lr=0.5)
    watch = Watch(model, optimizer, vocab_size=50, told=told.append, stop=stop)
    inputs = torch.randn(64, 4)
    targets = inputs[:, :2].argmax(-1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(0.01)
    for _ in range(150):
        loss = nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        watch.step(loss)
        model.zero_grad()


def test_a_loop_that_learns_is_left_alone() -> None:
    told: list[Breach] = []
    taught(learns=True, told=told)
    assert told == []


def test_a_loop_that_learns_nothing_is_told_once() -> None:
    told: list[Breach] = []
    taught(learns=False, told=told)
    assert [(each.check, each.severity, each.suspects[0]) for each in told] == [("R01", "ERROR", "loss stuck at ln V")]
    assert "ln V = 3.912" in sentence(told[0], "en")
    assert "修复" in sentence(told[0], "zh")


def test_a_loop_can_be_stopped() -> None:
    with pytest.raises(DiagnosisError, match="loss stuck at ln V"):
        taught(learns=False, told=[], stop=True)


def test_a_loss_that_is_no_number_is_told_at_once() -> None:
    watcher = Watcher()
    assert watcher.hear({"step": 1, "loss": 2.0}) == ()
    (breach,) = watcher.hear({"step": 2, "loss": math.nan})
    assert breach.suspects[0] == "loss not finite"
    assert watcher.hear({"step": 3, "loss": math.nan}) == ()


def test_hugging_faces_trainer_calls_back() -> None:
    transformers = pytest.importorskip("transformers")
    told: list[Breach] = []
    callback = trainer_callback(vocab_size=50, told=told.append, stop=True)
    assert isinstance(callback, transformers.TrainerCallback)
    state, control = transformers.TrainerState(), transformers.TrainerControl()
    callback.on_train_begin(None, state, control, model=nn.Linear(1, 1))
    for step in range(1, 200):
        state.global_step = step
        callback.on_log(None, state, control, logs={"loss": LN_V, "learning_rate": 1e-3, "grad_norm": 1.0})
    assert [each.suspects[0] for each in told] == ["loss stuck at ln V"]
    assert control.should_training_stop


def test_a_runs_file_is_followed_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor_watching, "PAUSE", 0.02)
    lock, metrics = tmp_path / "lock", tmp_path / "metrics.jsonl"
    lock.write_text("1234\n")

    def train() -> None:
        for start in (1, 60, 120):
            with metrics.open("a") as file:
                for step in range(start, start + 60):
                    file.write(json.dumps({"step": step, "loss": LN_V, "lr": 1e-3, "grad_norm": 1.0}) + "\n")
            time.sleep(0.1)
        lock.write_text("")

    training = threading.Thread(target=train)
    training.start()
    code = main(["doctor", str(tmp_path), "--watch", "--vocab", "50"])
    training.join()
    said = capsys.readouterr()
    assert code == 1
    assert said.out.count("R01") == 1
    assert "ln V = 3.912" in said.out


def test_a_folder_that_is_not_there_is_no_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "not-there", "--watch"]) == 2
    assert "not-there" in capsys.readouterr().err
