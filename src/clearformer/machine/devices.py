"""What torch can compute on and in, and checks that say so before anything is allocated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clearformer.errors import MachineError
from clearformer.machine.memory import in_binary_units, memory
from clearformer.machine.processor import cores, cpu_name
from clearformer.messages import Message
from clearformer.messages import machine as say

if TYPE_CHECKING:
    import torch

MOST_THREADS = 1024
DTYPES = ("float32", "bfloat16", "float16", "float64")


@dataclass(frozen=True)
class Accelerator:
    """A device beside the CPU; `memory` in bytes, None where it shares the machine's."""

    device: str
    name: str
    memory: int | None


def accelerators() -> tuple[Accelerator, ...]:
    """Devices beside the CPU that torch can use here."""
    import torch

    found = []
    for index in range(torch.cuda.device_count()):
        properties = torch.cuda.get_device_properties(index)
        found.append(Accelerator(f"cuda:{index}", properties.name, properties.total_memory))
    if torch.backends.mps.is_available():
        found.append(Accelerator("mps", cpu_name(), None))
    return tuple(found)


def checked_device(device: str) -> torch.device:
    """The torch device of this name. Raises MachineError, naming the devices there are."""
    import torch

    known = ["cpu", *(accelerator.device for accelerator in accelerators())]
    # "cuda" means the current one; "cuda:7" must be there.
    if device not in known and device not in {name.partition(":")[0] for name in known}:
        raise MachineError(say.NO_DEVICE, device=device, known=", ".join(known))
    return torch.device(device)


def supported_dtypes(device: str = "cpu") -> tuple[str, ...]:
    """Which of `DTYPES` the device multiplies matrices in, found by trying. Raises MachineError for no such device."""
    import torch

    chosen = checked_device(device)
    found = []
    for name in DTYPES:
        try:
            ones = torch.ones(2, 2, dtype=getattr(torch, name), device=chosen)
            (ones @ ones).sum().item()
        except (RuntimeError, TypeError):
            continue
        found.append(name)
    return tuple(found)


def checked_dtype(dtype: str, device: str = "cpu") -> torch.dtype:
    """The torch type of this name. Raises MachineError if the device does not compute in it."""
    import torch

    known = supported_dtypes(device)
    if dtype not in known:
        raise MachineError(say.NO_DTYPE, device=device, dtype=dtype, known=", ".join(known))
    chosen: torch.dtype = getattr(torch, dtype)
    return chosen


def use_threads(threads: int | None) -> int:
    """Let torch compute with `threads` threads; gives the number. Raises MachineError below 1 and above MOST_THREADS.

    None leaves the choice to torch, which honours OMP_NUM_THREADS but no quota: at most the cores that are granted.
    """
    import torch

    if threads is not None and threads < 1:
        raise MachineError(say.BAD_THREADS, threads=threads)
    if threads is not None and threads > MOST_THREADS:
        # The system refuses them one by one, and torch dies of it.
        raise MachineError(say.TOO_MANY_THREADS, threads=threads, most=MOST_THREADS)
    torch.set_num_threads(threads or min(torch.get_num_threads(), cores()))
    return torch.get_num_threads()


@contextmanager
def threads_of_torch(count: int) -> Iterator[None]:
    """torch computes with `count` threads until the block ends."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def check_memory(needed: int, purpose: str | Message, device: str = "cpu") -> None:
    """Raises MachineError if `needed` bytes for `purpose` are not free on the device; call it before allocating."""
    available = _available(device)
    if available is not None and needed > available:
        sizes = {"needed": in_binary_units(needed), "available": in_binary_units(available)}
        raise MachineError(say.NOT_ENOUGH_MEMORY, purpose=purpose, device=device, **sizes)


def _available(device: str) -> int | None:
    if not device.startswith("cuda"):
        return memory().available
    import torch

    free, _ = torch.cuda.mem_get_info(device)
    return int(free)
