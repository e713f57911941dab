"""Streams that are closed, full or abandoned, a folder that is gone, and Ctrl-C before the verb is known."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

INSTALLED = f'"{Path(sys.executable).with_name("clearformer")}"'
FULL = Path("/dev/full")


def shell(line: str) -> subprocess.CompletedProcess[str]:
    """A line for the shell in which `clearformer` is the program."""
    command = line.replace("clearformer", INSTALLED)
    return subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("clearformer ls >&-", 0),
        ("clearformer ls 2>&-", 0),
        ("clearformer lss >&-", 2),
        ("clearformer lss 2>&-", 2),
        ("clearformer lss --json 2>&-", 2),
        ("clearformer lss >&- 2>&-", 2),
        ("clearformer tokenizer encode small <&-", 0),
        ("clearformer --help | head -n 1", 0),
        ("clearformer generate --help | true", 0),
    ],
)
def test_a_closed_stream_changes_no_exit_code(tokenizer_folder, line, code) -> None:
    ended = shell(line)
    assert ended.returncode == code
    assert "Traceback" not in ended.stderr
    assert "Internal" not in ended.stderr


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
@pytest.mark.parametrize("line", ["clearformer ls --json >/dev/full", "clearformer lss --json >/dev/full"])
def test_a_full_disk_behind_stdout_is_told_on_stderr(line) -> None:
    ended = shell(line)
    cause, remedy = ended.stderr.splitlines()
    assert ended.returncode == (2 if "lss" in line else 1)
    assert (cause.startswith("Error: "), remedy.startswith("What to do: ")) == (True, True)
    assert ("lss" if "lss" in line else "No space left") in cause


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
def test_a_full_disk_behind_stderr_changes_no_exit_code() -> None:
    assert shell("clearformer lss 2>/dev/full").returncode == 2


def test_a_folder_that_is_gone_is_said(tmp_path) -> None:
    (tmp_path / "gone").mkdir()
    ended = shell(f'cd "{tmp_path}/gone" && rmdir "{tmp_path}/gone" && clearformer generate x y --json')
    assert ended.returncode == 2
    assert "has been removed" in json.loads(ended.stdout)["error"]["message"]


def test_ctrl_c_while_the_program_is_imported_has_its_sentence(tmp_path) -> None:
    """A module that interrupts takes the place of the first heavy import."""
    (tmp_path / "cyclopts.py").write_text("raise KeyboardInterrupt\n")
    program = "import sys; from clearformer.cli.main import main; sys.exit(main(['ls']))"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert ended.returncode == 130
    assert len(ended.stderr.splitlines()) == 2


@pytest.mark.parametrize("home", ["~no-such-user/x", "with space", "中文", "\udcff"])
def test_any_cache_folder_is_used_or_refused_by_name(clearformer, monkeypatch, tmp_path, home) -> None:
    monkeypatch.setenv("CLEARFORMER_HOME", home if home.startswith("~") else str(tmp_path / home))
    ended = clearformer("ls")
    assert ended.code == (1 if home.startswith("~") else 0)
    assert len(ended.err.splitlines()) == (2 if ended.code else 1)
    assert "Internal" not in ended.err
