"""`bench`: the table, the file, and what it refuses to measure."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest

from clearformer.bench.quiet import Calm
from drawing.folders import llama_folder

SHORT = ("--prompt", "6", "--runs", "2", "--threads", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("bench") / "tiny"
    llama_folder(place)
    return place


@pytest.fixture
def calm(monkeypatch: pytest.MonkeyPatch):
    """The machine is as quiet as the test says."""

    def be(spread: float) -> None:
        defaults = import_module("clearformer.bench.jobs").measure.__kwdefaults__
        monkeypatch.setitem(defaults, "look", lambda: Calm(spread, 1.0, 1))

    return be


@pytest.mark.parametrize("job", [("decode", "--new", "5"), ("prefill",)])
def test_side_by_side_both_write_the_same(clearformer, folder, calm, job) -> None:
    calm(0.0)
    ended = clearformer("bench", *job, "--model", str(folder), "--vs", "hf", *SHORT, "--out", "figures.json")
    assert ended.code == 0
    told = json.loads(Path("figures.json").read_text())
    assert ended.out.splitlines()[-1] == "figures.json"
    assert told["job"] == job[0]
    assert [row["name"] for row in told["rows"]] == ["clearformer", "transformers"]
    assert all(0 < row["low"] <= row["median"] <= row["high"] for row in told["rows"])
    assert told["rows"][0]["ratio"] is None
    assert f"{told['rows'][1]['ratio']:.2f}×" in ended.out
    assert 0 < told["reached"]["share"] == told["reached"]["used"] / told["reached"]["measured"]
    assert told["same_tokens"] is True
    assert told["machine"]["quiet"] is True
    for row in told["rows"]:
        assert f"{row['median']:.1f}" in ended.out


def test_alone_there_is_no_ratio(clearformer, folder, calm) -> None:
    calm(0.0)
    told = clearformer("bench", "prefill", "--model", str(folder), *SHORT, "--json").json
    ((row,), same) = told["rows"], told["same_tokens"]
    assert (row["ratio"], same) == (None, None)


def test_a_busy_machine_is_refused_unless_it_is_wanted(clearformer, folder, calm) -> None:
    calm(0.5)
    ended = clearformer("bench", "prefill", "--model", str(folder), *SHORT)
    assert (ended.code, ended.out) == (1, "")
    assert "busy" in ended.err
    assert "--busy-ok" in ended.err
    allowed = clearformer("--lang", "zh", "bench", "prefill", "--model", str(folder), *SHORT, "--busy-ok")
    assert allowed.code == 0
    assert "不可引用" in allowed.out


def test_other_tokens_in_float32_are_an_error_and_said(clearformer, folder, calm, monkeypatch) -> None:
    calm(0.0)
    room = import_module("clearformer.bench.ours")
    write = room.Clearformer.write

    def slip(self, prompts, new):
        written = write(self, prompts, new)
        (tokens,) = written.tokens
        return type(written)(((*tokens[:-1], 0 if tokens[-1] else 1),), written.watch)

    monkeypatch.setattr(room.Clearformer, "write", slip)
    ended = clearformer("bench", "decode", "--model", str(folder), "--vs", "hf", "--new", "3", *SHORT)
    assert ended.code == 1
    assert "The tokens of transformers differ from number 3 on, of 3" in ended.out


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("decode", "--new", "1"), "--new: expected at least 2"),
        (("decode", "--new", "2000"), "more than the 1024"),
        (("prefill", "--runs", "0"), "--runs: expected at least 1"),
        (("prefill", "--new", "4"), "no option --new"),
        (("decode", "--vs", "nobody"), "among hf, llama.cpp"),
        (("decode", "--rows", "65"), "--rows: expected at most 64"),
        (("start", "--vs", "hf"), "among llama.cpp"),
        (("sing",), "does not know sing"),
    ],
)
def test_what_cannot_be_measured_is_refused(clearformer, folder, calm, options, complaint) -> None:
    calm(0.0)
    ended = clearformer("bench", *options, "--model", str(folder))
    assert (ended.code, ended.out) == (2, "")
    assert complaint in ended.err


@pytest.mark.parametrize("job", ["decode", "start"])
def test_a_peer_without_its_environment_is_named_with_the_command_that_makes_it(
    clearformer, folder, monkeypatch, tmp_path, job
) -> None:
    monkeypatch.setenv("CLEARFORMER_BENCH", str(tmp_path / "none"))
    ended = clearformer("bench", job, "--model", str(folder), "--vs", "llama.cpp")
    assert (ended.code, ended.out) == (1, "")
    assert "none/llama-cpp is not there" in " ".join(ended.err.split())
    assert "make bench-setup" in ended.err


def test_rows_side_by_side_are_written_as_the_peer_writes_them(clearformer, folder, calm) -> None:
    calm(0.0)
    asked = ("bench", "decode", "--model", str(folder), "--vs", "hf", "--new", "4", "--rows", "3", *SHORT, "--json")
    told = clearformer(*asked).json
    assert (told["settings"]["rows"], told["same_tokens"]) == (3, True)


def test_a_file_that_cannot_be_written(clearformer, folder, calm) -> None:
    calm(0.0)
    ended = clearformer("bench", "prefill", "--model", str(folder), *SHORT, "--out", "nowhere/figures.json")
    assert ended.code == 1
    assert "nowhere/figures.json cannot be written" in ended.err


def test_training_is_measured_beside_the_peers_that_are_named(clearformer, monkeypatch) -> None:
    jobs = import_module("clearformer.bench.jobs")
    monkeypatch.setattr(jobs.require_calm, "__defaults__", (lambda: Calm(0.0, 1.0, 1),))
    call = ("bench", "train", "--shape", "char", "--steps", "2", "--runs", "2", "--threads", "1")
    ended = clearformer(*call, "--vs", "nanogpt-like, nn", "--out", "figures.json")
    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[-1] == "figures.json"
    told = json.loads(Path("figures.json").read_text())
    assert [row["name"] for row in told["rows"]] == ["clearformer", "nanogpt-like", "nn"]
    assert told["rows"][0]["ratio"] is None
    for row in told["rows"]:
        assert 0 < row["low"] <= row["median"] <= row["high"]
        assert f"{row['median']:.1f}" in ended.out
    assert all(f"{row['ratio']:.2f}×" in ended.out for row in told["rows"][1:])


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (("--vs", "nanogtp-like"), "nanogpt-like"),
        (("--steps", "0"), "--steps"),
        (("--runs", "0"), "--runs"),
    ],
)
def test_training_that_cannot_be_measured_is_refused(clearformer, flags, sentence) -> None:
    ended = clearformer("bench", "train", "--shape", "char", "--busy-ok", *flags)
    assert (ended.code, sentence in ended.err) == (2, True)
