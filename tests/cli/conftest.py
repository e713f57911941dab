"""The program run as a user runs it: in this process, and in one of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from clearformer.cli.main import main
from clearformer.text.bpe_train import train
from drawing.training_data import PLAIN, TINY, write_data

PROGRAM = "import sys; from clearformer.cli.main import main; sys.exit(main())"


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, an English locale, no terminal's width; nothing of the tester's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("CLEARFORMER_HOME", str(folder))
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def clearformer(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """Run a command line in this process."""

    def run(*arguments: str) -> Ended:
        capsys.readouterr()
        code = main(arguments)
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return run


@pytest.fixture
def start(home: Path) -> Callable[..., subprocess.Popen[bytes]]:
    """Start a command line in a process of its own, all three streams piped."""

    def run(*arguments: str | bytes, **environment: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", PROGRAM, *arguments]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, **pipes, env={**os.environ, **environment})  # type: ignore[call-overload]

    return run


@pytest.fixture
def tokenizer_folder(tmp_path: Path) -> Path:
    """A small trained tokenizer."""
    folder = tmp_path / "small"
    folder.mkdir()
    texts = ["the cat sat on the mat, 中文也在其中。" * 5]
    train(texts, vocabulary_size=280, special_tokens=["<|end|>"]).save(folder / "tokenizer.json")
    return folder


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run of each task, and the data beside them."""
    folder = tmp_path_factory.mktemp("trained")
    options = write_data(folder / "data")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as said:
        patch.setenv("CLEARFORMER_HOME", str(folder / "cache"))
        for task, named in options.items():
            out = str(folder / task)
            assert main(["train", task, *named, *TINY[task], *PLAIN, "--steps", "8", "--out", out]) == 0
            assert said.getvalue().splitlines()[-1] == out
    return folder
