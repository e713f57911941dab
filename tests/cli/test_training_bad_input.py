"""Data and folders that no run can be made of: a cause, a remedy, an exit code, and nothing lost or left behind."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from clearformer.runs.folder import RunFolder
from drawing.training_data import PLAIN, TINY, images, table, write_data


def lines(path: Path, change: Callable[[list[str]], list[str]]) -> None:
    path.write_text("\n".join(change(path.read_text(encoding="utf-8").splitlines())) + "\n", encoding="utf-8")


def replaced(path: Path, number: int, text: str) -> None:
    lines(path, lambda rows: [*rows[: number - 1], text, *rows[number:]])


@dataclass(frozen=True)
class Fault:
    """What is done to the data, and what the sentence must name."""

    task: str
    spoil: Callable[[Path], object]
    named: tuple[str, ...]
    options: tuple[str, ...] = ()


def one_class(data: Path) -> None:
    lines(data / "films.tsv", lambda rows: [rows[0], *(row for row in rows if row.endswith("yes"))])


def other_label(data: Path) -> None:
    (data / "other.tsv").write_text("text\tlabel\nodd film\tperhaps\n", encoding="utf-8")


def one_shade(data: Path) -> None:
    for path in (data / "shades" / "dark").iterdir():
        path.unlink()
    (data / "shades" / "dark").rmdir()


def labels_past_names(data: Path) -> None:
    labels = np.array([0, 1, -1] * 20)
    np.savez(data / "shades.npz", images=np.zeros((60, 8, 8), np.uint8), labels=labels)


FAULTS = {
    "no file": Fault("language", lambda data: (data / "words.txt").unlink(), ("words.txt",)),
    "empty text": Fault("language", lambda data: (data / "words.txt").write_text(""), ("words.txt",)),
    "one short line": Fault("language", lambda data: (data / "words.txt").write_text("a\n"), ("words.txt",)),
    "not UTF-8": Fault("language", lambda data: (data / "words.txt").write_bytes(b"abc\xff" * 99), ("words.txt", "3")),
    "context past the data": Fault("language", lambda _: None, ("9999", "words.txt"), ("--data.context", "9999")),
    "empty masked": Fault("masked", lambda data: (data / "words.txt").write_text(""), ("words.txt",)),
    "vocabulary past the corpus": Fault(
        "masked", lambda _: None, ("30000",), ("--tokenizer.type", "BytePair", "--tokenizer.vocabulary", "30000")
    ),
    "vocabulary past the pairs": Fault("translation", lambda _: None, ("30000",), ("--data.size", "30000")),
    "unequal lines": Fault(
        "translation", lambda data: lines(data / "a.en", lambda rows: rows[:-1]), ("a.de", "a.en", "72", "71")
    ),
    "empty target": Fault("translation", lambda data: (data / "a.en").write_text(""), ("a.en",)),
    "one pair": Fault(
        "translation",
        lambda data: [(data / f"a.{end}").write_text("ein\n") for end in ("de", "en")],
        ("1",),
    ),
    "sentence past the budget": Fault(
        "translation", lambda data: replaced(data / "a.de", 5, "Hund " * 500), ("256",), ("--data.batch", "256")
    ),
    "empty table": Fault("forecasting", lambda data: (data / "waves.csv").write_text(""), ("waves.csv",)),
    "one row": Fault("forecasting", lambda data: lines(data / "waves.csv", lambda rows: rows[:2]), ("waves.csv", "1")),
    "short table": Fault("forecasting", lambda data: table(data / "waves.csv", 30), ("16", "4")),
    "missing date": Fault(
        "forecasting", lambda data: lines(data / "waves.csv", lambda rows: rows[:9] + rows[10:]), ("waves.csv", "10")
    ),
    "text for a number": Fault(
        "forecasting", lambda data: replaced(data / "waves.csv", 4, "2020-01-01 02:00:00,low,1"), ("4", "load", "low")
    ),
    "NaN": Fault(
        "forecasting", lambda data: replaced(data / "waves.csv", 4, "2020-01-01 02:00:00,1,nan"), ("4", "OT", "nan")
    ),
    "no such column": Fault("forecasting", lambda _: None, ("laod", "load"), ("--target", "laod")),
    "empty labels": Fault("classification", lambda data: (data / "films.tsv").write_text(""), ("films.tsv",)),
    "one labelled line": Fault(
        "classification", lambda data: lines(data / "films.tsv", lambda rows: rows[:2]), ("films.tsv",)
    ),
    "no label": Fault("classification", lambda data: replaced(data / "films.tsv", 4, "alone"), ("films.tsv", "4")),
    "one class": Fault("classification", one_class, ("films.tsv", "yes")),
    "label out of range": Fault("classification", other_label, ("perhaps", "no, yes"), ("--data.validation", "OTHER")),
    "one class of images": Fault("vision", one_shade, ("shades",)),
    "unreadable image": Fault(
        "vision", lambda data: (data / "shades" / "dark" / "3.png").write_bytes(b"\x89PNG no more"), ("3.png",)
    ),
    "image label out of range": Fault("vision", labels_past_names, ("shades.npz", "-1"), ("--data", "NPZ")),
}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_bad_data_is_named_and_leaves_nothing(clearformer, tmp_path, fault, language) -> None:
    data = tmp_path / "data"
    named = write_data(data)[fault.task]
    fault.spoil(data)
    places = {"OTHER": str(data / "other.tsv"), "NPZ": str(data / "shades.npz")}
    options = [places.get(option, option) for option in fault.options]
    if "--data" in options:
        named = ()
    before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    call = ("train", fault.task, *named, *TINY[fault.task], *options, *PLAIN, "--steps", "2", "--lang", language)
    ended = clearformer(*call)
    assert ended.code in (1, 2), ended.out
    cause, remedy = ended.err.strip().splitlines()[-2:]
    assert cause.startswith("Error: " if language == "en" else "错误：")
    assert remedy
    assert all(word in cause + remedy for word in fault.named), ended.err
    assert any("\u4e00" <= letter <= "\u9fff" for letter in cause) == (language == "zh")
    assert clearformer(*call, "--json").json["error"]["kind"] in ("data", "tokenizer", "usage")
    assert not list(Path("runs").glob("*"))
    assert {path: path.read_bytes() for path in data.rglob("*") if path.is_file()} == before


def test_a_refused_run_leaves_its_name_free(clearformer, tmp_path) -> None:
    named = write_data(tmp_path / "data")["language"]
    text = (tmp_path / "data" / "words.txt").read_text()
    (tmp_path / "data" / "words.txt").write_text("")
    call = ("train", "language", *named, *TINY["language"], *PLAIN, "--steps", "1", "--out", "run")
    assert clearformer(*call).code == 1
    (tmp_path / "data" / "words.txt").write_text(text)
    assert clearformer(*call).code == 0


@pytest.fixture
def run(clearformer, tmp_path) -> tuple[str, ...]:
    named = write_data(tmp_path / "data")["language"]
    call = ("train", "language", *named, *TINY["language"], *PLAIN, "--steps", "2", "--out", "run")
    assert clearformer(*call).code == 0
    return call


def whole(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "lock"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_folder_in_use_names_the_process(clearformer, run, language) -> None:
    before = whole(Path("run"))
    with RunFolder.open(Path("run")).lock():
        ended = clearformer("train", "language", "--resume", "--out", "run", "--lang", language)
    assert ended.code == 1
    assert str(os.getpid()) in ended.err
    assert whole(Path("run")) == before


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_changed_recipe_says_what_differs(clearformer, run, language) -> None:
    before = whole(Path("run"))
    changed = ("--resume", "--out", "run", "--optimizer.lr", "0.5", "--lang", language)
    ended = clearformer("train", "language", *changed)
    assert ended.code == 1
    assert all(word in ended.err for word in ("optimizer.lr", "0.001", "0.5"))
    assert whole(Path("run")) == before


def test_a_run_is_never_written_over(clearformer, run) -> None:
    before = whole(Path("run"))
    ended = clearformer(*run)
    assert ended.code == 1
    assert "--resume" in ended.err
    assert whole(Path("run")) == before


def test_a_folder_of_other_things_is_left_alone(clearformer, tmp_path) -> None:
    Path("mine").mkdir()
    Path("mine/letter.txt").write_text("dear")
    named = write_data(tmp_path / "data")["language"]
    ended = clearformer("train", "language", *named, *TINY["language"], *PLAIN, "--steps", "1", "--out", "mine")
    assert ended.code == 1
    assert [path.name for path in Path("mine").iterdir()] == ["letter.txt"]


def test_resume_where_no_run_is(clearformer) -> None:
    ended = clearformer("train", "language", "--resume", "--out", "nowhere")
    assert ended.code == 1
    assert "nowhere" in ended.err
    assert not Path("nowhere").exists()
    assert clearformer("train", "language", "--resume").code == 2


def test_evaluating_what_is_no_run(clearformer, tmp_path) -> None:
    images(tmp_path / "shades")
    ended = clearformer("evaluate", str(tmp_path / "shades"))
    assert ended.code == 2
    assert "shades" in ended.err
