"""How fast this machine really is: the peak of a matrix product, and the rate at which memory is read.

Decoding one token at a time reads every weight once, so its speed is bounded by the second; prefill and training by the
first (the roofline model, Williams et al. 2009, doi 10.1145/1498765.1498785).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from clearformer.machine.devices import supported_dtypes
from clearformer.machine.kept import keep
from clearformer.machine.memory import memory
from clearformer.machine.processor import cores, cpu_name

FILE = "machine-speed.json"
_MATRIX = 2048
_SECONDS = 1.0
_READ = 512 * 2**20


@dataclass(frozen=True)
class Speed:
    """Measured on `machine` with `threads` threads, in 10^9 operations and 10^9 bytes a second; None: no such type."""

    machine: str
    threads: int
    float32_gflops: float
    bfloat16_gflops: float | None
    read_gb_per_s: float


def measure() -> Speed:
    """Measure now, in a few seconds, with the threads that torch is set to."""
    import torch

    bfloat16 = matmul_gflops(torch.bfloat16) if "bfloat16" in supported_dtypes() else None
    return Speed(identity(), torch.get_num_threads(), matmul_gflops(torch.float32), bfloat16, read_gb_per_s())


def measured(folder: Path) -> Speed | None:
    """What `save` kept in `folder` for this machine, this torch and this number of threads; None if there is none."""
    import torch

    speed = remembered(folder)
    return speed if speed is not None and speed.threads == torch.get_num_threads() else None


def remembered(folder: Path) -> Speed | None:
    """The same with whatever number of threads it was measured; without torch."""
    try:
        speed = Speed(**json.loads((folder / FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return speed if speed.machine == identity() else None


def save(speed: Speed, folder: Path) -> None:
    """Keep a measurement in `folder`, whole or not at all. Raises OSError."""
    keep(folder / FILE, asdict(speed))


def known(folder: Path) -> Speed:
    """What is kept in `folder`, else what is measured now and kept from then on, where the folder lets itself be
    written."""
    if (speed := measured(folder)) is None:
        speed = measure()
        with suppress(OSError):
            save(speed, folder)
    return speed


def identity() -> str:
    """What a measurement belongs to: it says nothing about another processor or another torch."""
    return f"{cpu_name()}, {cores()} cores, torch {version('torch')}"


def matmul_gflops(dtype: object) -> float:
    """10^9 operations a second of a large product in this number type, with the threads that torch is set to."""
    import torch

    generator = torch.Generator().manual_seed(0)
    left = torch.randn(_MATRIX, _MATRIX, generator=generator).to(dtype)  # type: ignore[call-overload]
    right, product = left.clone(), torch.empty_like(left)
    seconds = _best_seconds(lambda: torch.mm(left, right, out=product))
    return 2 * _MATRIX**3 / seconds / 1e9


def read_gb_per_s() -> float:
    """Sums an array far larger than any cache: one addition for each number read costs less than the read."""
    import torch

    free = memory().available or _READ
    numbers = torch.ones(min(_READ, free // 4) // 4)
    return numbers.numel() * 4 / _best_seconds(lambda: numbers.sum().item()) / 1e9


def _best_seconds(work: Callable[[], object]) -> float:
    """The shortest of many runs: whatever else the machine does can only lengthen one."""
    work()
    best, end = float("inf"), time.perf_counter() + _SECONDS
    while True:
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() > end:
            return best
