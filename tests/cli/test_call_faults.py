"""What the call alone shows to be wrong is said first: nothing is read, no folder is made; and what helps does help."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from clearformer.cli.flags import Progressing
from clearformer.cli.screen import Screen
from clearformer.cli.watching import Watching
from clearformer.train.events import Sampled
from clearformer.train.task import Metric, Sample
from drawing.training_data import PLAIN, TINY, write_data

LOUD = tuple(option for option in PLAIN if option != "--quiet")
FAULTS = {
    "no data": ("language", "--steps", "2"),
    "no pairs": ("translation", "--steps", "2"),
    "one side": ("translation", "--src", "a.de", "--steps", "2"),
    "no such set": ("translation", "--data", "multi31k", "--steps", "2"),
    "no table": ("forecasting", "--steps", "2"),
    "no texts": ("classification", "--steps", "2"),
    "no images": ("vision", "--steps", "2"),
    "others alone": ("forecasting", "--data", "sine", "--data.others", "true", "--steps", "2"),
    "made whole": ("language", "--data", "cyclic", "--data.test", "x.txt", "--steps", "2"),
    "no length": ("language", "--data", "pydoc"),
    "no steps": ("language", "--data", "pydoc", "--steps", "0"),
    "bad rate": ("language", "--data", "pydoc", "--steps", "2", "--optimizer.lr", "nan"),
    "no device": ("language", "--data", "pydoc", "--steps", "2", "--device", "nowhere"),
    "no tracker": ("language", "--data", "pydoc", "--steps", "2", "--tracker", "trackio"),
}


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
@pytest.mark.parametrize("call", FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_of_the_call_is_said_before_anything_is_read(clearformer, tmp_path, monkeypatch, call, dry) -> None:
    monkeypatch.setitem(sys.modules, "trackio", None)
    monkeypatch.setattr("clearformer.train.trackers.find_spec", lambda name: None)
    ended = clearformer("train", *call, *dry)
    assert ended.code in (1, 2)
    assert len(ended.err.splitlines()) == 2, ended.err
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        (("train", "languag"), "language"),
        (("train", "clasification", "--steps", "3"), "classification"),
        (("tokenizer", "encod", "x"), "encode"),
    ],
)
def test_a_mistyped_task_is_told_the_nearest(clearformer, words, nearest) -> None:
    ended = clearformer(*words)
    assert ended.code == 2
    assert f"clearformer {words[0]} does not know {words[1]}. Did you mean {nearest}?" in ended.err
    assert f"您是否想用 {nearest}" in clearformer(*words, "--lang", "zh").err
    assert "expected one of" in clearformer("train", "qqq").err


@pytest.mark.parametrize("task", ["language", "masked", "translation", "classification"])
def test_what_helps_without_a_test_split_helps(clearformer, tmp_path, trained, task) -> None:
    """Both remedies are taken at their word."""
    ended = clearformer("evaluate", str(trained / task), "--split", "test")
    assert ended.code == 1
    assert "no test split" in ended.err
    assert "--split validation" in ended.err
    assert clearformer("evaluate", str(trained / task), "--split", "validation").code == 0
    data = write_data(tmp_path / "data")[task]
    files = [word for word in data if "/" in word]
    fields = ("--data.test_source", "--data.test_target") if task == "translation" else ("--data.test",)
    assert all(field in ended.err for field in fields)
    given = [word for pair in zip(fields, files, strict=True) for word in pair]
    out = str(tmp_path / "with-test")
    call = ("train", task, *data, *given, *TINY[task], *PLAIN, "--steps", "2", "--out", out)
    assert clearformer(*call).code == 0
    assert clearformer("evaluate", out, "--split", "test").code == 0


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_pictures_of_samples_are_for_a_terminal(monkeypatch, stream) -> None:
    err = stream()
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setenv("TERM", "xterm")
    with Watching(Screen("en", Progressing()), Metric("loss"), "example") as watching:
        watching.see(Sampled(1, (Sample("#3", "dark", "light", "██░░\n░░██"),)))
    assert "#3 → dark" in err.getvalue()
    assert ("██░░\n" in err.getvalue().replace("\r", "")) == (stream is Terminal)
    assert "\\n" not in err.getvalue()


def test_a_dry_run_says_what_it_does_and_counts_watching(clearformer, tmp_path) -> None:
    data = write_data(tmp_path / "data")["language"]
    call = ("train", "language", *data, *TINY["language"], *LOUD, "--steps", "40", "--dry-run")
    ended = clearformer(*call)
    assert "Reading the data" in ended.err
    assert "Trying how fast" in ended.err
    found = clearformer(*call, "--json").json
    watched = found["evaluations"] * found["evaluation_s"] + found["samples"] * found["sample_s"]
    assert found["seconds"] >= 40 * found["update_s"] + watched
    assert found["evaluations"] == 10
    assert f"{found['evaluations']} evaluations" in ended.out
