"""Processes that die, fill the disk, or share a folder: what was acknowledged is there afterwards."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
import torch

from clearformer.checkpoint.atomic import TEMPORARY
from clearformer.errors import CheckpointError, RunError
from clearformer.runs.folder import RunFolder
from clearformer.runs.state import newest_state, save_state
from runs.conftest import same, state_of

SAVING = """
with run.lock():
    print("ready", flush=True)
    for step in range(1, 100_000):
        save_state(run, state_of(step, numbers=50_000))
        print(step, flush=True)
"""


@pytest.mark.parametrize("kills", [4, pytest.param(30, marks=pytest.mark.long)])
def test_killed_while_saving(run, child, kills):
    """The newest acknowledged state, or one that was finished after it, loads; nothing half-written stays."""
    draw = random.Random(kills)
    left = 0
    for _ in range(kills):
        process = child(run.path, SAVING)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        time.sleep(draw.uniform(0.02, 0.3))
        process.kill()
        acknowledged = [int(line) for line in process.communicate()[0].split()]
        left += len(list(run.state_path.glob(f"{TEMPORARY}*")))
        with run.lock():
            found = newest_state(run, pytest.fail)
            assert found is not None or not acknowledged
            if found is not None:
                assert found.step >= max(acknowledged, default=0)
                assert same(found, state_of(found.step, numbers=50_000))
            assert not list(run.path.rglob(f"{TEMPORARY}*"))
    assert kills < 30 or left, "no kill fell into a save: the test has lost its point"


def test_what_a_dead_process_left_is_swept_by_the_next(run):
    (run.state_path / f"{TEMPORARY}dead").mkdir(parents=True)
    (run.state_path / f"{TEMPORARY}dead" / "tensors.safetensors").write_text("half")
    (run.path / f"{TEMPORARY}file").write_text("half")
    with run.lock():
        assert not list(run.path.rglob(f"{TEMPORARY}*"))


def test_a_run_in_use_names_the_process(run, child):
    process = child(run.path, "with run.lock():\n    print('held', flush=True)\n    time.sleep(60)\n")
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    with pytest.raises(RunError, match=f"process {process.pid}") as caught, run.lock():
        pass
    assert str(process.pid) in caught.value.cause("zh")
    process.kill()
    process.communicate()
    with run.lock(), pytest.raises(RunError, match=f"process {os.getpid()}"), run.lock():
        pass
    with run.lock():
        pass


def test_a_worker_that_outlives_its_process_holds_no_lock(run, child):
    """A fork has the descriptor; the lock must die with the process that took it."""
    forking = """
    import os
    with run.lock():
        if (worker := os.fork()) == 0:
            os.close(1)
            os.close(2)
            time.sleep(60)
        print(worker, flush=True)
        time.sleep(60)
    """
    process = child(run.path, forking)
    assert process.stdout is not None
    worker = int(process.stdout.readline())
    process.kill()
    process.communicate()
    try:
        os.kill(worker, 0)
        with run.lock():
            pass
    finally:
        os.kill(worker, signal.SIGKILL)


def test_a_file_that_may_not_grow_is_a_named_error_and_the_state_before_loads(run, child):
    """What a full disk does to the writer, without a disk to fill."""
    save_state(run, state_of(1))
    limited = """
    import resource
    from clearformer.errors import CheckpointError
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    with run.lock():
        try:
            save_state(run, state_of(2, numbers=50_000))
        except CheckpointError as error:
            print(error.cause())
    """
    out, err = child(run.path, limited).communicate(timeout=120)
    assert "cannot be written" in out, err
    assert "step-00000002" in out
    assert [path.name for path in run.state_path.iterdir()] == ["step-00000001"]
    assert same(newest_state(run, pytest.fail), state_of(1))


@pytest.fixture
def small_disk(tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("mounting needs root")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_is_a_named_error_and_the_state_before_loads(small_disk: Path, child):
    """At every size from where nothing is written to where all but the manifest is; in a child, for it might die."""
    run = RunFolder.create(small_disk / "run", "steps: 3\n")
    save_state(run, state_of(1))
    filling = """
    import shutil
    from clearformer.errors import CheckpointError
    filler = run.path.parent / "filler"
    for left in [0, 4096, 8192, 100_000, 400_000, 404_000, 408_000]:
        filler.unlink(missing_ok=True)
        import shutil
        filler.write_bytes(b"x" * (shutil.disk_usage(run.path).free - left))
        with run.lock():
            try:
                save_state(run, state_of(2, numbers=50_000))
            except CheckpointError as error:
                print(error.cause())
    filler.unlink()
    with run.lock():
        save_state(run, state_of(3, numbers=50_000))
    """
    process = child(run.path, filling)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert out.count("cannot be written") == 7, out
    assert same(newest_state(run, pytest.fail), state_of(3, numbers=50_000))
    assert sorted(path.name for path in run.state_path.iterdir()) == ["step-00000001", "step-00000003"]


def test_publishing_on_a_full_disk_leaves_the_model_before(small_disk: Path):
    from clearformer.build import build
    from clearformer.load import load
    from clearformer.spec.presets import tiny_gpt

    run = RunFolder.create(small_disk / "run", "steps: 3\n")
    model = build(tiny_gpt(layers=1), generator=torch.Generator().manual_seed(0))
    run.publish(model.spec, dict(model.named_parameters()), {})
    (small_disk / "filler").write_bytes(b"x" * shutil.disk_usage(small_disk).free)
    with pytest.raises(CheckpointError, match="cannot be written"):
        run.publish(model.spec, {name: 2 * value for name, value in model.named_parameters()}, {})
    again = load(run.path).model
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))
