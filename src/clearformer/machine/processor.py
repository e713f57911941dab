"""The processor: how many cores this process may use, its name, and its vector instructions."""

from __future__ import annotations

import math
import os
import platform
from pathlib import Path

from clearformer.machine.control_groups import cpu_quotas
from clearformer.machine.system_files import lines, sysctl

# What decides which kernels pay: vector width, dot products of 8-bit integers, and bfloat16.
CPU_FEATURES = ("avx2", "avx512f", "avx_vnni", "avx512_vnni", "avx512_bf16", "amx_bf16", "neon", "bf16", "i8mm")
_MACOS_NAMES = {"neon": "AdvSIMD", "bf16": "FEAT_BF16", "i8mm": "FEAT_I8MM"}


def cores(root: Path = Path("/")) -> int:
    """Processors that this process may run on: affinity, then each control group's quota, rounded up."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([allowed, *map(math.ceil, cpu_quotas(root))]))


def cpu_name(root: Path = Path("/")) -> str:
    """The processor's name as the system gives it, else its architecture."""
    named = _first_processor(root).get("model name") or sysctl("machdep.cpu.brand_string")
    return named or platform.processor() or platform.machine()


def cpu_features(root: Path = Path("/")) -> tuple[str, ...]:
    """Which of `CPU_FEATURES` the processor has; empty where the system does not say."""
    fields = _first_processor(root)
    found = set((fields.get("flags") or fields.get("Features") or "").split())
    found |= set(sysctl("machdep.cpu.leaf7_features").lower().split())
    found |= {name for name, key in _MACOS_NAMES.items() if sysctl(f"hw.optional.arm.{key}") == "1"}
    # Linux calls NEON by its architecture name.
    found |= {"neon"} if "asimd" in found else set()
    return tuple(name for name in CPU_FEATURES if name in found)


def _first_processor(root: Path) -> dict[str, str]:
    fields: dict[str, str] = {}
    for line in lines(root / "proc/cpuinfo"):
        key, colon, value = line.partition(":")
        if colon:
            fields.setdefault(key.strip(), value.strip())
    return fields
