"""Legacy pickles: weights alone become the same weights in safetensors; everything else is refused and does nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from checkpoint.pickle_bombs import bombs, saved
from clearformer.checkpoint import pickle_process, pickle_worker
from clearformer.checkpoint.folder import open_weights
from clearformer.checkpoint.pickle_files import convert_folder
from clearformer.errors import CheckpointError
from clearformer.messages import pickles as say

TABLE = torch.randn(40, 8)
WEIGHTS = {
    "embed": TABLE,
    "head": TABLE,
    "rows": TABLE[3:9],
    "turned": TABLE.t(),
    "wide": torch.ones(1, 4).expand(3, 4),
    "half": torch.randn(5).bfloat16(),
    "counts": torch.arange(3),
    "flags": torch.tensor([True, False]),
    "scalar": torch.tensor(2.5),
    "none": torch.empty(0, 7),
    "parameter": torch.nn.Parameter(torch.randn(2, 2)),
}
TRIALS = Path(__file__).with_name("pickle_trials.py")
UNLIKE = {"os.system": "GLOBAL posix.system", "a storage of a terabyte, old format": "memory", "a tar": "begins with"}


def silent(done: int, total: int) -> None:
    pass


def equal(found: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]) -> bool:
    return found.keys() == expected.keys() and all(
        torch.equal(found[name], tensor) and found[name].dtype == tensor.dtype for name, tensor in expected.items()
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_folder_gets_the_same_weights_beside_its_pickle(tmp_path):
    (tmp_path / "pytorch_model.bin").write_bytes(saved(WEIGHTS))
    with pytest.raises(CheckpointError, match=r"clearformer pull .* --allow-pickle"):
        open_weights(tmp_path)
    seen = []
    convert_folder(tmp_path, tmp_path, lambda *amounts: seen.append(amounts))
    assert equal(load_file(tmp_path / "model.safetensors"), WEIGHTS)
    assert set(open_weights(tmp_path).names()) == set(WEIGHTS)
    assert {path.name for path in tmp_path.iterdir()} == {"pytorch_model.bin", "model.safetensors"}
    size = len(saved(WEIGHTS))
    assert seen == [(0, size), (size, size)]


def test_shards_and_the_format_before_torch_1_6(tmp_path):
    parts = {"pytorch_model-00001-of-00002.bin": {"a": TABLE}, "pytorch_model-00002-of-00002.bin": {"b": TABLE.t()}}
    for name, tensors in parts.items():
        (tmp_path / name).write_bytes(
            saved(tensors, _use_new_zipfile_serialization=name.startswith("pytorch_model-00002"))
        )
    index = {"weight_map": {"a": "pytorch_model-00001-of-00002.bin", "b": "pytorch_model-00002-of-00002.bin"}}
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    convert_folder(tmp_path, tmp_path, silent)
    file = open_weights(tmp_path)
    assert equal({name: file.tensor(name) for name in file.names()}, {"a": TABLE, "b": TABLE.t()})
    assert (tmp_path / "model-00002-of-00002.safetensors").is_file()


def trials(folder: Path, seconds: int = 1) -> dict[str, tuple[dict[str, str] | None, int]]:
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, str(TRIALS), str(folder), str(seconds)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONWARNINGS": "ignore"},
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_each_bomb_is_refused_and_does_nothing(tmp_path):
    """As the worker reads it, with its limits, its hook and its unpickler."""
    (tmp_path / "here").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.05)
        made = bombs(tmp_path, listening.getsockname()[1])
        for name, content in made.items():
            (tmp_path / "here" / name.replace("/", "-")).write_bytes(content)
        found = trials(tmp_path / "here")
        with pytest.raises(TimeoutError):
            listening.accept()
    assert {path.name for path in tmp_path.iterdir()} == {"here"}  # nothing was touched, run or written
    assert len(found) == len(made) >= 35
    for name, (answer, code) in found.items():
        if name == "a pickle without end":
            assert (answer, code) == (None, -signal.SIGXCPU)
            continue
        assert answer is not None, (name, code)
        assert answer["error"] in ("pickle", "other", "sparse", "swells", "compressed", "memory"), (name, answer)
        assert UNLIKE.get(name, "") in json.dumps(answer)
        assert (
            not (tmp_path / "here" / f"{name}.out").exists() or not (tmp_path / "here" / f"{name}.out").stat().st_size
        )


@pytest.mark.parametrize("name", ["os.system", "a pickle without end"])
def test_a_refused_file_is_one_clear_error_and_nothing_is_left(tmp_path, monkeypatch, name):
    monkeypatch.setattr(pickle_process, "SECONDS", 1)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "pytorch_model.bin").write_bytes(bombs(tmp_path, 9)[name])
    before = contents(tmp_path / "model")
    with pytest.raises(CheckpointError) as caught:
        convert_folder(tmp_path / "model", tmp_path / "model", silent)
    assert caught.value.failure is (say.REFUSED if name == "os.system" else say.TOO_SLOW)
    for language in ("en", "zh"):
        assert "\n" not in caught.value.cause(language) + caught.value.remedy(language)
    assert contents(tmp_path / "model") == before
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_should_the_unpickler_err_the_process_can_reach_nothing(tmp_path):
    """The same bombs, with torch's check and our own of names switched off: what they call is refused all the same."""
    acting = ["os.system", "builtins.exec", "builtins.eval", "builtins.open", "subprocess", "a socket"]
    made = bombs(tmp_path, 9)
    program = (
        "import io, json, os, pickle, sys, torch\nfrom clearformer.checkpoint import pickle_worker as w\n"
        "load, w.torch.load = torch.load, lambda *a, **k: load(*a, **{**k, 'weights_only': False})\n"
        "w._REFUSED_EVENTS = tuple(event for event in w._REFUSED_EVENTS if event != 'pickle.')\n"
        "w.warm_up()\nw.limit_process(1 << 28, 5, 1 << 20)\n"
        "for line in sys.stdin.read().split():\n"
        "    content = bytes.fromhex(line)\n"
        "    print(json.dumps(w.answer(io.BytesIO(content), len(content), 1)))\n"
    )
    lines = "\n".join(made[name].hex() for name in acting)
    done = subprocess.run([sys.executable, "-c", program], input=lines, capture_output=True, text=True, timeout=100)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["error"] for answer in answers] == ["forbidden"] * len(acting), done.stderr
    assert "os.system" in answers[0]["detail"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_the_kernel_sees_no_file_process_or_socket(tmp_path):
    (tmp_path / "m.bin").write_bytes(bombs(tmp_path, 9)["os.system"])
    log = tmp_path / "log"
    with (tmp_path / "m.bin").open("rb") as source, (tmp_path / "out").open("wb") as out:
        fds = (source.fileno(), out.fileno())
        command = ["strace", "-f", "-o", str(log), "-e", "trace=%file,%network,%process,prlimit64"]
        command += [sys.executable, "-I"]
        command += [pickle_worker.__file__, *map(str, fds), str(1 << 28), "10", str(1 << 20)]
        done = subprocess.run(command, pass_fds=fds, env={}, capture_output=True, timeout=200)
    if b"ptrace" in done.stderr:
        pytest.skip("strace may not trace here")
    assert json.loads(done.stdout)["error"] == "pickle"
    lines = log.read_text().splitlines()
    at = next(n for n, line in enumerate(lines) if "RLIMIT_NOFILE, {rlim_cur=0" in line)
    calls = {line.split(maxsplit=1)[1].partition("(")[0] for line in lines[at + 1 :] if "(" in line}
    # Python looks whether the source lines of an error are there, and opens nothing.
    assert calls <= {"exit_group", "exit", "newfstatat", "stat", "lstat"}
    assert any("openat" in line for line in lines[:at])  # the log does show them


def test_what_is_not_a_file_of_the_folder_is_not_read(tmp_path):
    (tmp_path / "secret.bin").write_bytes(saved(WEIGHTS))
    folder = tmp_path / "model"
    folder.mkdir()
    link = folder / "pytorch_model.bin"
    link.symlink_to(tmp_path / "secret.bin")
    with pytest.raises(CheckpointError, match="leads outside"):
        convert_folder(folder, folder, silent)
    link.unlink()
    os.mkfifo(link)
    with pytest.raises(CheckpointError, match="regular file"):
        convert_folder(folder, folder, silent)
    link.unlink()
    for shard in ("../secret.bin", "pytorch_model.bin", "model.safetensors", 7, "pytorch_model-1-of-2.bin"):
        (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": {"a": shard}}))
        with pytest.raises(CheckpointError, match="weight_map"):
            convert_folder(folder, folder, silent)
    assert {path.name for path in folder.iterdir()} == {"pytorch_model.bin.index.json"}
