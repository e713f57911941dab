"""Whatever the user's code does to its process, the doctor says what it saw, and keeps what was found before."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from clearformer.doctor.apart import running
from clearformer.doctor.apart.request import Request
from clearformer.doctor.apart.running import examine_apart
from clearformer.doctor.diagnosis import Diagnosis
from clearformer.doctor.telling import Starting, Told
from clearformer.errors import DiagnosisError, UsageError

MODEL = '''
import inspect, os, sys, time, torch
from torch import nn

class Model(nn.Module):
    """Sound."""

    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(40, 16), nn.Linear(16, 40)

    def checked(self):
        """Whether K01 is under way."""
        return any("causality" in frame.filename for frame in inspect.stack())

    def forward(self, ids):
        return self.head(self.embedding(ids).cumsum(1))
'''


def examined(tmp_path: Path, code: str, name: str = "build", **more: object) -> Diagnosis:
    file = tmp_path / "my_model.py"
    file.write_text(MODEL + code, encoding="utf-8")
    target = f"{file}:{name}"
    request = Request(code={"model": target}, kind="decoder", vocab_size=40, only=("K01",), **more)  # type: ignore[arg-type]
    return examine_apart(request, target)


def notes(found: Diagnosis) -> str:
    return " ".join(note.text() for note in found.notes)


def test_a_fork_speaks_not_for_its_parent_and_a_flood_is_counted_and_not_shown(tmp_path: Path) -> None:
    code = "print('x' * 3_000_000)\nos.fork()\ndef build():\n    return Model()\n"
    found = examined(tmp_path, code)
    assert found.healthy
    assert "K01" in found.passed
    assert "2.9 MiB" in notes(found)


@pytest.mark.parametrize(
    ("act", "said"), [("os._exit(3)", "exit code 3"), ("os.kill(os.getpid(), 11)", "SIGSEGV"), ("sys.exit(0)", "0")]
)
def test_a_file_that_ends_its_process_when_imported(tmp_path: Path, act: str, said: str) -> None:
    with pytest.raises(DiagnosisError, match=said) as raised:
        examined(tmp_path, f"print('training begins', flush=True)\n{act}\n")
    assert "training begins" in str(raised.value)
    assert "__main__" in raised.value.remedy()


def test_a_file_that_trains_when_imported(tmp_path: Path) -> None:
    with pytest.raises(DiagnosisError, match="longer than") as raised:
        examined(tmp_path, "while True:\n    pass\n", seconds=12.0)
    assert "--time-limit" in raised.value.remedy()


def test_a_crash_in_a_check_leaves_that_check_out_and_makes_the_others(tmp_path: Path) -> None:
    code = """
class Crashing(Model):
    def forward(self, ids):
        if self.checked():
            os.abort()
        return super().forward(ids)

def build():
    return Crashing()
"""
    found = examined(tmp_path, code)
    assert "SIGABRT" in notes(found)
    assert ["SIGABRT" in each.why.text() for each in found.skipped if each.check == "K01"] == [True]
    assert "K07" in found.passed


def test_a_module_that_ends_its_process_when_it_is_called(tmp_path: Path) -> None:
    code = "class Ending(Model):\n    def forward(self, ids):\n        os._exit(7)\n"
    with pytest.raises(DiagnosisError, match="called") as raised:
        examined(tmp_path, code, "Ending")
    assert "exit code 7" in str(raised.value)


def test_a_check_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "CHECK_SECONDS", 4.0)
    monkeypatch.setattr(running, "MOST_LOST", 0)
    code = """
class Hanging(Model):
    def forward(self, ids):
        if self.checked():
            time.sleep(1000)
        return super().forward(ids)

def build():
    return Hanging()
"""
    found = examined(tmp_path, code)
    assert "ended early" in notes(found)


def test_the_code_sees_no_secret_and_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_TOKEN", "hidden")
    monkeypatch.setenv("MY_DATA", "seen")
    code = """
import socket, urllib.request
assert "MY_API_TOKEN" not in os.environ
assert os.environ["MY_DATA"] == "seen"
assert os.environ["HF_HUB_OFFLINE"] == "1"
try:
    urllib.request.urlopen("http://192.0.2.1/weights", timeout=5)
except OSError as error:
    assert "doctor" in str(error)
else:
    raise AssertionError
def build():
    return Model()
"""
    found = examined(tmp_path, code, environment=("MY_DATA",))
    assert "192.0.2.1" in notes(found)
    assert "--network" in notes(found)


def test_memory_has_an_end(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"wanted more memory .* at my_model\.py:\d+ \((RuntimeError|MemoryError)"
    ) as raised:
        examined(tmp_path, "def build():\n    return torch.ones(2**30)\n", memory=1 << 30)
    assert "--memory-limit" in raised.value.remedy()


def test_an_import_that_downloads_names_its_line_and_the_option(tmp_path: Path) -> None:
    line = len(MODEL.splitlines()) + 2
    code = "import urllib.request\nurllib.request.urlopen('http://192.0.2.1/weights', timeout=5)\n"
    with pytest.raises(UsageError, match=rf"wanted the network at my_model\.py:{line},.*192\.0\.2\.1") as raised:
        examined(tmp_path, code)
    assert "--network" in raised.value.remedy()


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_a_process_that_leaves_the_session_does_not_outlive_the_examination(tmp_path: Path) -> None:
    left = tmp_path / "left"
    code = f"""
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open({str(left)!r}, "w").write(str(os.getpid()))
        time.sleep(1000)
    os._exit(0)
while not os.path.exists({str(left)!r}):
    time.sleep(0.01)
def build():
    return Model()
"""
    found = examined(tmp_path, code)
    assert "left processes behind" in notes(found)
    # One that has ended and is not yet taken away has nothing that could be read.
    with suppress(OSError):
        assert (Path("/proc") / left.read_text() / "environ").read_bytes() == b""


def test_what_was_found_before_it_was_broken_off_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "my_model.py"
    file.write_text(MODEL + "def build():\n    return Model()\n", encoding="utf-8")
    request = Request(code={"model": f"{file}:build"}, kind="decoder", vocab_size=40, only=("K01",))

    def broken_off_in_causality(told: Told) -> None:
        if isinstance(told, Starting) and told.check == "K01":
            raise KeyboardInterrupt

    with pytest.raises(running.BrokenOff) as raised:
        examine_apart(request, "my_model.py:build", broken_off_in_causality)
    assert raised.value.found.passed == ("K07",)
    assert [each.check for each in raised.value.found.skipped] == ["K01"]
    assert "broken off" in notes(raised.value.found)
