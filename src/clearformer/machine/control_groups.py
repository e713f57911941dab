"""Limits that Linux control groups put on this process, version 2 and version 1."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from clearformer.machine.system_files import lines, numbers, words

# Version 1 says "no limit" with a number near 2^63.
_NO_LIMIT = 2**60


def cpu_quotas(root: Path = Path("/")) -> Iterator[float]:
    """Processors granted by each group, this process's own and its parents, that limits them."""
    for folder in _groups(root, ""):
        quota = words(folder / "cpu.max")
        if len(quota) == 2 and quota[0] != "max":
            yield float(quota[0]) / float(quota[1])
    for folder in _groups(root, "cpu"):
        quota, period = words(folder / "cpu.cfs_quota_us"), words(folder / "cpu.cfs_period_us")
        if quota and period and float(quota[0]) > 0:
            yield float(quota[0]) / float(period[0])


def memory_limits(root: Path = Path("/")) -> Iterator[tuple[int, int]]:
    """(limit, used) in bytes of each group that limits memory; droppable file cache is not counted as used."""
    for controller, limit_file, used_file in (
        ("", "memory.max", "memory.current"),
        ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        for folder in _groups(root, controller):
            limit, used = words(folder / limit_file), words(folder / used_file)
            if limit and used and limit[0] != "max" and int(limit[0]) < _NO_LIMIT:
                cache = numbers(folder / "memory.stat").get("inactive_file", 0)
                yield int(limit[0]), max(0, int(used[0]) - cache)


def _groups(root: Path, controller: str) -> list[Path]:
    """Folders of this process's group and its parents, for a version 1 controller or "" for version 2."""
    top = root / "sys/fs/cgroup" / controller
    own = ""
    for line in lines(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            own = path.strip("/")
    # Inside a container the path may be the host's; then only the top folder exists.
    folders = [top / own, *(top / own).parents] if own else [top]
    return [folder for folder in folders if folder.is_relative_to(top) and folder.is_dir()]
