"""What the machine says of itself, read from made-up system files, and what torch really does here."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import re
from pathlib import Path

import pytest
import torch

from clearformer import machine
from clearformer.errors import MachineError
from clearformer.machine.control_groups import cpu_quotas, memory_limits
from clearformer.machine.memory import in_binary_units

GIB = 2**30


@pytest.fixture
def system(tmp_path: Path):
    """Write system files under a root of our own."""

    def write(files: dict[str, str]) -> Path:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return tmp_path

    return write


MEMINFO = {"proc/meminfo": "MemTotal: 8388608 kB\nMemFree: 1048576 kB\nMemAvailable: 4194304 kB\n"}


def test_memory_is_the_systems_where_no_group_limits_it(system) -> None:
    assert machine.memory(system(MEMINFO)) == machine.Memory(8 * GIB, 4 * GIB)


def test_memory_is_the_groups_where_that_is_less(system) -> None:
    group = "sys/fs/cgroup/pod/box"
    files = {
        "proc/self/cgroup": "0::/pod/box\n",
        f"{group}/memory.max": "max\n",
        f"{group}/memory.current": f"{GIB}\n",
        "sys/fs/cgroup/pod/memory.max": f"{2 * GIB}\n",
        "sys/fs/cgroup/pod/memory.current": f"{3 * GIB // 2}\n",
        "sys/fs/cgroup/pod/memory.stat": f"anon 5\ninactive_file {GIB // 2}\n",
    }
    root = system(MEMINFO | files)
    assert list(memory_limits(root)) == [(2 * GIB, GIB)]
    assert machine.memory(root) == machine.Memory(2 * GIB, GIB)


def test_a_group_above_its_limit_leaves_nothing(system) -> None:
    files = {"sys/fs/cgroup/memory.max": f"{GIB}\n", "sys/fs/cgroup/memory.current": f"{2 * GIB}\n"}
    assert machine.memory(system(MEMINFO | files)) == machine.Memory(GIB, 0)


def test_version_1_groups_count_and_their_no_limit_does_not(system) -> None:
    group = "sys/fs/cgroup/memory/box"
    files = {
        "proc/self/cgroup": "4:memory:/box\n2:cpu,cpuacct:/\n",
        f"{group}/memory.limit_in_bytes": f"{GIB}\n",
        f"{group}/memory.usage_in_bytes": f"{GIB // 4}\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
        "sys/fs/cgroup/memory/memory.usage_in_bytes": "5\n",
    }
    assert list(memory_limits(system(files))) == [(GIB, GIB // 4)]


@pytest.mark.parametrize(
    ("files", "quotas"),
    [
        ({"sys/fs/cgroup/cpu.max": "150000 100000\n"}, [1.5]),
        ({"sys/fs/cgroup/cpu.max": "max 100000\n"}, []),
        ({"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, [0.5]),
        ({"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, []),
        ({"proc/self/cgroup": "0::/gone\n", "sys/fs/cgroup/cpu.max": "200000 100000\n"}, [2.0]),
        ({}, []),
    ],
)
def test_cpu_quotas(system, files, quotas) -> None:
    assert list(cpu_quotas(system(files))) == quotas


def test_cores_are_those_allowed_and_granted(system, monkeypatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(6)), raising=False)
    assert machine.cores(system({})) == 6
    assert machine.cores(system({"sys/fs/cgroup/cpu.max": "250000 100000\n"})) == 3
    assert machine.cores(system({"sys/fs/cgroup/cpu.max": "20000 100000\n"})) == 1


@pytest.mark.parametrize(
    ("cpuinfo", "features"),
    [
        ("processor: 0\nflags\t\t: fpu avx2 avx512f avx512_vnni\n", ("avx2", "avx512f", "avx512_vnni")),
        ("processor: 0\nFeatures\t: fp asimd i8mm bf16\n", ("neon", "bf16", "i8mm")),
        ("", ()),
    ],
)
@pytest.mark.skipif(platform.system() == "Darwin", reason="macOS has no /proc")
def test_cpu_features_of_x86_and_arm(system, cpuinfo, features) -> None:
    assert machine.cpu_features(system({"proc/cpuinfo": cpuinfo})) == features


def test_the_processor_here_agrees_with_torch() -> None:
    assert ("avx2" in machine.cpu_features()) == torch.cpu._is_avx2_supported()
    assert ("avx512f" in machine.cpu_features()) == torch.cpu._is_avx512_supported()
    assert machine.cpu_name()


def test_supported_types_are_those_that_multiply() -> None:
    known = machine.supported_dtypes()
    assert {"float32", "float64"} <= set(known)
    assert machine.checked_dtype("float32") is torch.float32
    with pytest.raises(MachineError, match="int3"):
        machine.checked_dtype("int3")


@pytest.mark.parametrize("device", ["cuda:99", "tpu", "", "cpu:x", "mps:7"])
def test_a_device_that_is_absent_is_refused_by_name(device) -> None:
    with pytest.raises(MachineError, match=re.escape("(cpu")):
        machine.checked_device(device)


def test_memory_is_checked_before_it_is_taken(monkeypatch) -> None:
    available = machine.memory().available
    assert available is not None
    machine.check_memory(available // 2, "half")
    with pytest.raises(MachineError) as caught:
        machine.check_memory(available * 8, "The model")
    assert caught.value.cause().startswith(f"The model needs {in_binary_units(available * 8)} of memory on cpu; ")
    assert "The model" in caught.value.cause("zh")


def test_threads_below_one_are_refused_and_others_set() -> None:
    before = torch.get_num_threads()
    try:
        assert machine.use_threads(1) == torch.get_num_threads() == 1
        assert machine.use_threads(None) == 1
        torch.set_num_threads(machine.cores() + 1)
        assert machine.use_threads(None) == machine.cores()
        with pytest.raises(MachineError):
            machine.use_threads(0)
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1536, "1.5 KiB"),
        (5 * 2**20, "5.0 MiB"),
        (3 * GIB, "3.0 GiB"),
        (2**42, "4.0 TiB"),
        (2**52, "4096.0 TiB"),
    ],
)
def test_sizes_as_a_person_reads_them(size, text) -> None:
    assert in_binary_units(size) == text


def test_a_measurement_is_kept_for_this_machine_and_no_other(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("clearformer.machine.speed._SECONDS", 0.0)
    monkeypatch.setattr("clearformer.machine.speed._MATRIX", 64)
    monkeypatch.setattr("clearformer.machine.speed._READ", 2**20)
    speed = machine.measure()
    assert speed.float32_gflops > 0
    assert speed.read_gb_per_s > 0
    assert machine.measured(tmp_path) is None
    machine.save(speed, tmp_path / "cache")
    assert machine.measured(tmp_path / "cache") == machine.known(tmp_path / "cache") == speed
    machine.save(dataclasses.replace(speed, threads=speed.threads + 1), tmp_path / "cache")
    assert machine.measured(tmp_path / "cache") is None
    for damaged in ("{", "[]", json.dumps({"machine": "x"}), '"x"'):
        (tmp_path / "cache" / "machine-speed.json").write_text(damaged)
        assert machine.measured(tmp_path / "cache") is None
