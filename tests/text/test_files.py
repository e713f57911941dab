"""A tokenizer's file is written whole or not at all, and what was there before is kept."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from clearformer.errors import TokenizerError
from clearformer.text import files


def test_a_failure_in_the_middle_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "tokenizer.json"
    files.write_json(path, {"old": 1})

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(TokenizerError, match=r"tokenizer\.json could not be written: No space left"):
        files.write_json(path, {"new": "x" * 10_000})
    monkeypatch.undo()
    assert (files.read_json(path), [each.name for each in tmp_path.iterdir()]) == ({"old": 1}, ["tokenizer.json"])


def test_an_interruption_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(files.json, "dump", interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.write_json(tmp_path / "tokenizer.json", {})
    assert list(tmp_path.iterdir()) == []


def test_two_writers_at_once_leave_one_whole_file(tmp_path):
    path = tmp_path / "tokenizer.json"
    contents = [{"writer": number, "words": ["x" * 1000] * 50} for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda each: files.write_json(path, each), contents * 4))
    assert files.read_json(path) in contents
    assert [each.name for each in tmp_path.iterdir()] == ["tokenizer.json"]


def test_the_file_is_as_readable_as_any_other(tmp_path):
    files.write_json(tmp_path / "tokenizer.json", {})
    (tmp_path / "other").write_text("")
    modes = {stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in ("tokenizer.json", "other")}
    assert len(modes) == 1
