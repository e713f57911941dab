"""How much memory this process may use, and how much is free."""

from __future__ import annotations

import ctypes
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearformer.machine.control_groups import memory_limits
from clearformer.machine.system_files import numbers, sysctl


@dataclass(frozen=True)
class Memory:
    """Bytes that this process may use, and bytes free now; None where the system does not say."""

    total: int | None
    available: int | None


def memory(root: Path = Path("/")) -> Memory:
    """The smallest of the machine's memory and what each control group leaves, in bytes."""
    total, available = _system_memory(root)
    for limit, used in memory_limits(root):
        left = max(0, limit - used)
        total = limit if total is None else min(total, limit)
        available = left if available is None else min(available, left)
    return Memory(total, available)


def in_binary_units(size: float) -> str:
    """A number of bytes as a person reads it, in units of 1024."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def _system_memory(root: Path) -> tuple[int | None, int | None]:
    if kibibytes := numbers(root / "proc/meminfo"):
        available = kibibytes.get("MemAvailable", kibibytes.get("MemFree"))
        return kibibytes["MemTotal"] * 1024, None if available is None else available * 1024
    if sys.platform == "win32":
        return _windows_memory()
    if total := sysctl("hw.memsize"):
        pages = sysctl("vm.page_free_count"), sysctl("vm.page_purgeable_count")
        free = sum(int(count) for count in pages if count.isdigit()) * os.sysconf("SC_PAGE_SIZE")
        return int(total), free or None
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), None
    except (AttributeError, ValueError, OSError):
        return None, None


def _windows_memory() -> tuple[int | None, int | None]:
    sizes = ["total", "available", "total_page", "available_page", "total_virtual", "available_virtual", "extended"]
    fields = [*((name, ctypes.c_ulong) for name in ("length", "load")), *((name, ctypes.c_ulonglong) for name in sizes)]
    status: Any = type("MemoryStatus", (ctypes.Structure,), {"_fields_": fields})()
    status.length = ctypes.sizeof(status)
    kernel: Any = getattr(ctypes, "windll").kernel32  # noqa: B009 - absent from the type stubs elsewhere
    return (status.total, status.available) if kernel.GlobalMemoryStatusEx(ctypes.byref(status)) else (None, None)
