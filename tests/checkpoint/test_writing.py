"""Writing: the order that a power loss needs, nothing half done, and damage found by the manifest."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from clearformer.checkpoint.atomic import new_folder, write_bytes
from clearformer.checkpoint.folder import open_folder
from clearformer.checkpoint.manifest import check_manifest, read_manifest
from clearformer.checkpoint.writing import save_folder, save_tensors
from clearformer.errors import CheckpointError

TENSORS = {"a": torch.randn(3, 4), "b": torch.randn(2).bfloat16(), "turned": torch.randn(3, 2).t()}


def save(path: Path) -> None:
    save_folder(path, {"model_type": "gpt2"}, TENSORS, {"eos_token_id": 0}, {"tokenizer.json": b"{}"})


def test_what_is_saved_is_opened(tmp_path):
    save(tmp_path / "m")
    found = open_folder(tmp_path / "m")
    assert (found.config, found.generation) == ({"model_type": "gpt2"}, {"eos_token_id": 0})
    theirs = load_file(tmp_path / "m" / "model.safetensors")
    assert set(theirs) == set(found.tensors.names()) == set(TENSORS)
    for name, tensor in TENSORS.items():
        assert torch.equal(theirs[name], tensor)
        assert torch.equal(found.tensors.tensor(name), tensor)
    assert found.tensors.metadata == {"format": "pt"}
    assert {p.name for p in tmp_path.iterdir()} == {"m"}
    assert set(check_manifest(tmp_path / "m").files) == {p.name for p in (tmp_path / "m").iterdir()} - {"manifest.json"}
    with pytest.raises(CheckpointError, match="already exists"):
        save(tmp_path / "m")


def test_contents_reach_the_disk_before_the_name(tmp_path, monkeypatch):
    """fsync of the files < fsync of their folder < rename < fsync of the parent."""
    events = []
    fsync, replace = os.fsync, os.replace

    def seen_fsync(descriptor):
        events.append(("fsync", os.readlink(f"/proc/self/fd/{descriptor}")))
        fsync(descriptor)

    def seen_replace(source, target):
        events.append(("rename", str(target)))
        replace(source, target)

    monkeypatch.setattr(os, "fsync", seen_fsync)
    monkeypatch.setattr(os, "replace", seen_replace)
    save(tmp_path / "m")
    rename = events.index(("rename", str(tmp_path / "m")))
    *files, folder = [path for kind, path in events[:rename] if kind == "fsync"]
    assert {Path(path).name for path in files} >= {
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "manifest.json",
    }
    assert Path(folder).parent == tmp_path
    assert events[rename + 1 :] == [("fsync", str(tmp_path))]


def test_a_failure_in_the_middle_leaves_the_old_file_and_no_litter(tmp_path):
    path = tmp_path / "m.safetensors"
    save_tensors(path, {"a": torch.zeros(3)})
    with pytest.raises(RuntimeError):
        save_tensors(path, {"a": (shared := torch.ones(3)), "b": shared})
    assert torch.equal(load_file(path)["a"], torch.zeros(3))
    with pytest.raises(ZeroDivisionError), new_folder(tmp_path / "f") as folder:
        (folder / "half").write_bytes(b"1" * (1 // 0))
    assert [p.name for p in tmp_path.iterdir()] == ["m.safetensors"]


def test_a_full_disk_is_our_error_and_keeps_the_old_file(tmp_path):
    """RLIMIT_FSIZE stands for the full disk: a write fails half way."""
    path = tmp_path / "m.safetensors"
    save_tensors(path, {"a": torch.zeros(3)})
    program = (
        "import resource, sys, torch, pathlib\n"
        "from clearformer.checkpoint.writing import save_tensors\n"
        "from clearformer.errors import CheckpointError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try: save_tensors(pathlib.Path(sys.argv[1]), {'a': torch.ones(100_000)})\n"
        "except CheckpointError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    assert "what was there before is untouched" in done.stdout
    assert torch.equal(load_file(path)["a"], torch.zeros(3))
    assert [p.name for p in tmp_path.iterdir()] == ["m.safetensors"]


def test_no_permission_is_our_error(tmp_path):
    with pytest.raises(CheckpointError, match="cannot be written"):
        write_bytes(tmp_path / "absent" / "f", b"1")
    with pytest.raises(CheckpointError, match="outside the folder"):
        save_folder(tmp_path / "m", {}, TENSORS, extra={"../evil": b""})


def test_every_flipped_bit_and_lost_tail_is_found(tmp_path):
    save(tmp_path / "m")
    for path in (p for p in (tmp_path / "m").iterdir() if p.name != "manifest.json"):
        good = path.read_bytes()
        middle = len(good) // 2
        for bad in (good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :], good[:-1], good + b"\0"):
            path.write_bytes(bad)
            with pytest.raises(CheckpointError, match=path.name):
                check_manifest(tmp_path / "m")
        path.write_bytes(good)
    check_manifest(tmp_path / "m")
    (tmp_path / "m" / "config.json").unlink()
    with pytest.raises(CheckpointError, match=r"config.json: expected a file, found none"):
        check_manifest(tmp_path / "m", contents=False)


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "", "a/../../x"])
def test_a_manifest_names_only_what_is_inside(tmp_path, name):
    entry = f'{{"bytes": 1, "sha256": "{"0" * 64}"}}'
    (tmp_path / "manifest.json").write_text(f'{{"source": "", "files": {{"{name}": {entry}}}}}')
    with pytest.raises(CheckpointError, match="manifest"):
        read_manifest(tmp_path)
