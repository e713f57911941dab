"""`clearformer train`: what goes before what, what it leaves, and how it goes on."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from pathlib import Path

import pytest
import yaml

from clearformer.runs.folder import RunFolder
from clearformer.runs.state import newest_state
from drawing.training_data import PLAIN, TINY, write_data


@pytest.fixture
def call(tmp_path: Path) -> tuple[str, ...]:
    """A tiny language run that lacks only its length."""
    return ("train", "language", *write_data(tmp_path / "data")["language"], *TINY["language"], *PLAIN)


def printed(clearformer, *arguments: str) -> dict[str, object]:
    ended = clearformer("train", "language", "--print-config", *arguments)
    assert ended.code == 0, ended.err
    recipe: dict[str, object] = yaml.safe_load(ended.out)
    return recipe


def test_the_last_line_is_the_run(clearformer, call) -> None:
    ended = clearformer(*call, "--steps", "2")
    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[-1] == "runs/language-1"
    assert clearformer(*call, "--steps", "2").out.splitlines()[-1] == "runs/language-2"
    left = {path.name for path in Path("runs/language-1").iterdir()}
    assert left >= {"config.json", "model.safetensors", "tokenizer.json", "manifest.json", "recipe.yaml"}
    records = [json.loads(line) for line in Path("runs/language-1/metrics.jsonl").read_text().splitlines()]
    assert [record["step"] for record in records if "loss" in record] == [1, 2]


def test_flags_go_before_environment_file_and_defaults(clearformer, monkeypatch) -> None:
    Path("recipe.yaml").write_text("optimizer: {lr: 0.5}\nseed: 3\nwatch: {log: 7}\n")
    monkeypatch.setenv("CLEARFORMER__OPTIMIZER__LR", "0.25")
    monkeypatch.setenv("CLEARFORMER__SEED", "4")
    monkeypatch.setenv("CLEARFORMER__CLIP", "")
    recipe = printed(clearformer, "--config", "recipe.yaml", "--optimizer.lr", "0.125")
    assert (recipe["optimizer"]["lr"], recipe["seed"]) == (0.125, 4)
    assert (recipe["watch"]["log"], recipe["clip"], recipe["accumulate"]) == (7, 1.0, 1)
    assert printed(clearformer, "--config", "recipe.yaml", "--seed", "5")["seed"] == 5
    monkeypatch.delenv("CLEARFORMER__OPTIMIZER__LR")
    assert printed(clearformer, "--config", "recipe.yaml")["optimizer"]["lr"] == 0.5


def test_an_environment_type_brings_its_own_fields(clearformer, monkeypatch) -> None:
    monkeypatch.setenv("CLEARFORMER__OPTIMIZER__TYPE", "Adam")
    monkeypatch.setenv("CLEARFORMER__OPTIMIZER__BETA2", "0.97")
    found = printed(clearformer)["optimizer"]
    assert found == {"type": "Adam", "lr": 1.0, "beta1": 0.9, "beta2": 0.97, "eps": 1e-9}


def test_a_length_puts_out_the_weaker_one(clearformer, monkeypatch) -> None:
    Path("recipe.yaml").write_text("steps: 9\n")
    recipe = printed(clearformer, "--config", "recipe.yaml", "--budget", "2m")
    assert (recipe["steps"], recipe["budget"]) == (None, 120.0)
    monkeypatch.setenv("CLEARFORMER__BUDGET", "1h")
    assert printed(clearformer, "--config", "recipe.yaml")["budget"] == 3600.0
    recipe = printed(clearformer, "--config", "recipe.yaml", "--steps", "5")
    assert (recipe["steps"], recipe["budget"]) == (5, None)
    assert clearformer("train", "language", "--steps", "5", "--budget", "1m").code == 2


@pytest.mark.parametrize("task", list(TINY))
def test_a_printed_recipe_is_read_back(clearformer, task) -> None:
    first = clearformer("train", task, "--print-config", *TINY[task], "--steps", "3")
    assert first.code == 0, first.err
    Path("recipe.yaml").write_text(first.out, encoding="utf-8")
    again = clearformer("train", task, "--print-config", "-c", "recipe.yaml")
    assert again.out == first.out


@pytest.mark.parametrize(
    ("option", "nearest"), [("--optimizer.lrr", "lr"), ("--optimiser.lr", "optimizer"), ("--data.contxt", "context")]
)
def test_a_misspelt_option_is_told_the_nearest(clearformer, option, nearest) -> None:
    ended = clearformer("train", "language", option, "1")
    assert ended.code == 2
    assert re.search(rf"mean.*\b{nearest}\b", ended.err)


def test_a_misspelt_variable_is_told_the_nearest(clearformer, monkeypatch) -> None:
    monkeypatch.setenv("CLEARFORMER__OPTIMIZER__LRR", "1")
    ended = clearformer("train", "language", "--print-config")
    assert ended.code == 2
    assert re.search(r"mean.*\blr\b", ended.err)


def test_a_dry_run_trains_nothing(clearformer, call) -> None:
    ended = clearformer(*call, "--steps", "2", "--dry-run", "--json")
    assert ended.code == 0, ended.err
    assert ended.json["parameters"] > 0
    assert not Path("runs").exists()
    assert clearformer(*call, "--steps", "2", "--dry-run").code == 0


def test_resume_goes_on_with_the_run_s_own_recipe(clearformer, call) -> None:
    assert clearformer(*call, "--steps", "2", "--out", "run").code == 0
    before = Path("run/model.safetensors").read_bytes()
    ended = clearformer("train", "language", "--resume", "--out", "run", "--json")
    assert ended.code == 0, ended.err
    assert ended.json["steps"] == 2
    assert Path("run/model.safetensors").read_bytes() == before


def test_signals_save_and_end_with_their_codes(clearformer, start, call) -> None:
    """One JSON object, a state, the documented code; and the resumed run ends as one that nothing broke off."""
    length, codes = 300, {"SIGINT": 130, "SIGTERM": 143, "SIGUSR1": 75}
    call = (*call, "--steps", str(length), "--watch.evaluate", "100", "--watch.save", "100")
    begun = {name: start(*call, "--out", name, "--json", OMP_NUM_THREADS="1") for name in codes}
    waiting, until = dict(begun), time.monotonic() + 120
    while waiting:
        assert time.monotonic() < until
        time.sleep(0.005)
        for name, process in list(waiting.items()):
            metrics = Path(name, "metrics.jsonl")
            assert process.poll() is None
            if metrics.exists() and metrics.stat().st_size:
                waiting.pop(name).send_signal(getattr(signal, name))
    for name, process in begun.items():
        out, err = process.communicate(timeout=60)
        assert process.returncode == codes[name], err
        told = json.loads(out)
        state = newest_state(RunFolder.open(Path(name)), pytest.fail)
        assert state is not None
        assert (told["stopped"], told["steps"]) == (name, state.step)
        assert 0 < state.step < length
    assert clearformer(*call, "--out", "whole").code == 0
    assert clearformer("train", "language", "--resume", "--out", "SIGTERM", "--quiet").code == 0
    assert Path("SIGTERM/model.safetensors").read_bytes() == Path("whole/model.safetensors").read_bytes()


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGUSR1", 75)])
def test_a_signal_before_the_first_update_ends_with_its_code_and_leaves_the_folder_free(start, name, code) -> None:
    """The data come through a pipe that nobody fills: the signal finds the run reading."""
    os.mkfifo("text.txt")
    process = start("train", "language", "--data", "text.txt", "--steps", "2", "--out", "run")
    filling = os.open("text.txt", os.O_WRONLY)
    assert Path("run/recipe.yaml").exists()
    process.send_signal(getattr(signal, name))
    _, err = process.communicate(timeout=60)
    os.close(filling)
    assert process.returncode == code, err
    assert not Path("run").exists()


@pytest.mark.parametrize(
    ("task", "flag", "field", "value"),
    [
        ("language", "--accumulate", "accumulate", 3),
        ("vision", "--clip", "clip", 0.25),
        ("masked", "--masked", "masked", 0.4),
        ("translation", "--scheduled-sampling", "scheduled_sampling", 0.2),
    ],
)
def test_fields_of_the_top_have_flags(clearformer, task, flag, field, value) -> None:
    ended = clearformer("train", task, "--print-config", flag, str(value))
    assert ended.code == 0, ended.err
    assert yaml.safe_load(ended.out)[field] == value
