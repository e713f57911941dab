"""A state is whole or named as damaged, wherever the damage lies; the one before it then serves."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from clearformer.checkpoint.atomic import TEMPORARY
from clearformer.errors import CheckpointError
from clearformer.runs.folder import RunFolder
from clearformer.runs.state import newest_state, save_state
from runs.conftest import same, state_of

FILES = ("tensors.safetensors", "facts.json", "manifest.json")


def test_what_was_saved_comes_back(run):
    assert newest_state(run, pytest.fail) is None
    path = save_state(run, state_of(7))
    assert path == run.state_path / "step-00000007"
    assert same(newest_state(run, pytest.fail), state_of(7))


def test_the_newest_two_are_kept(run):
    for step in (1, 2, 30, 400):
        save_state(run, state_of(step))
    assert sorted(path.name for path in run.state_path.iterdir()) == ["step-00000030", "step-00000400"]
    assert same(newest_state(run, pytest.fail), state_of(400))


def test_a_second_state_of_one_step_is_the_newer_one(run):
    save_state(run, state_of(3))
    for number in range(11):  # more than nine: numbers are compared as numbers
        save_state(run, state_of(3, numbers=number + 1))
    assert same(newest_state(run, pytest.fail), state_of(3, numbers=11))
    assert len(list(run.state_path.iterdir())) == 2


def test_training_goes_on_behind_a_damaged_state(run):
    """The damaged one is no longer counted among the newest two."""
    for step in (10, 20):
        save_state(run, state_of(step))
    (run.state_path / "step-00000020" / "facts.json").write_text("{}")
    save_state(run, state_of(15))
    assert sorted(path.name for path in run.state_path.iterdir()) == ["step-00000010", "step-00000015"]


@pytest.fixture
def two(run: RunFolder) -> RunFolder:
    save_state(run, state_of(1))
    save_state(run, state_of(2))
    return run


def falls_back(run: RunFolder, path: Path) -> None:
    """Step 1 is found, and exactly one warning names the file (or the state) that is damaged."""
    warnings: list[CheckpointError] = []
    assert same(newest_state(run, warnings.append), state_of(1))
    (warning,) = warnings
    assert str(path.parent) in str(warning)
    assert "step-00000002" in warning.cause("zh")


@pytest.mark.parametrize("name", FILES)
def test_one_flipped_bit_anywhere_is_found(two, name):
    """A bit of every byte."""
    path = two.state_path / "step-00000002" / name
    content, draw = path.read_bytes(), random.Random(0)
    for at in range(len(content)):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1 << draw.randrange(8)]) + content[at + 1 :])
        falls_back(two, path)
    path.write_bytes(content)
    assert same(newest_state(two, pytest.fail), state_of(2))


@pytest.mark.parametrize("name", FILES)
def test_a_file_cut_short_or_lost_is_found(two, name):
    path = two.state_path / "step-00000002" / name
    content = path.read_bytes()
    for length in range(0, len(content), 7):
        path.write_bytes(content[:length])
        falls_back(two, path)
    path.write_bytes(content + b"\0")
    falls_back(two, path)
    path.unlink()
    falls_back(two, path)


def test_two_damaged_states_are_both_named_and_nothing_is_made_up(two):
    for step in (1, 2):
        (two.state_path / f"step-0000000{step}" / "facts.json").unlink()
    warnings: list[CheckpointError] = []
    assert newest_state(two, warnings.append) is None
    assert [f"step-0000000{n}" in str(warning) for n, warning in zip((2, 1), warnings, strict=True)] == [True, True]


def test_files_are_on_the_disk_before_the_name_and_the_name_before_the_return(run, monkeypatch):
    """fsync of every file, then of the folder, then the rename, then fsync of the parent; removal only afterwards."""
    save_state(run, state_of(1))
    save_state(run, state_of(2))
    done: list[tuple[str, str]] = []
    fsync, rename, replace, rmdir = os.fsync, os.rename, os.replace, os.rmdir

    def noted_fsync(descriptor):
        done.append(("fsync", os.readlink(f"/proc/self/fd/{descriptor}")))
        fsync(descriptor)

    def noted(name, action):
        def act(source, target, **given):
            done.append((name, str(target)))
            action(source, target, **given)

        return act

    def noted_rmdir(path, **given):
        done.append(("rmdir", str(path)))
        rmdir(path, **given)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(os, "rename", noted("rename", rename))
    monkeypatch.setattr(os, "replace", noted("rename", replace))
    monkeypatch.setattr(os, "rmdir", noted_rmdir)
    path = save_state(run, state_of(3))
    commit = done.index(("rename", str(path)))
    synced = [name for action, name in done[:commit] if action == "fsync"]
    (folder,) = {Path(name).parent for name in synced if Path(name).name in FILES}
    assert folder.name.startswith(TEMPORARY)
    last = {Path(name).name: at for at, name in enumerate(synced)}
    assert all(last[name] < last[folder.name] for name in FILES), "files first, then the folder that names them"
    after = done[commit + 1 :]
    assert after[0] == ("fsync", str(run.state_path))
    assert [action for action, _ in after[1:]].count("rmdir") >= 1, "the oldest goes last"
    assert not any(action == "rmdir" and "step-" in name for action, name in done[:commit])
