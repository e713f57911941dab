"""Memory that one update frees is kept for the next.

glibc hands large blocks back to the kernel as soon as they are free. An update needs the same blocks again, and each
new page costs a fault and its zeros: up to a tenth of a training step on a CPU.
"""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Iterator
from contextlib import contextmanager

from clearformer.machine import checked_device

# Names and values of `man 3 mallopt`.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -3, -4
_NEVER_TRIM, _NO_MAPPINGS, _USUAL_MAPPINGS = -1, 0, 65536
# The most that glibc's own adaptation of its thresholds comes to, which is switched off once they are set.
_LARGEST_MMAP_THRESHOLD = 32 * 2**20


@contextmanager
def kept_memory(device: str = "cpu") -> Iterator[None]:
    """Freed memory stays with the process until the block ends, for work on a CPU under glibc; elsewhere nothing
    changes. The process may hold a fifth more at its peak. Blocks do not nest: the inner one's end is the outer's.
    Raises MachineError for a device that this machine has not."""
    if checked_device(device).type != "cpu" or platform.libc_ver()[0] != "glibc":
        yield
        return
    libc = ctypes.CDLL(None)
    libc.mallopt(_MMAP_MAX, _NO_MAPPINGS)
    libc.mallopt(_TRIM_THRESHOLD, _NEVER_TRIM)
    try:
        yield
    finally:
        libc.mallopt(_MMAP_MAX, _USUAL_MAPPINGS)
        libc.mallopt(_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD)
        libc.mallopt(_TRIM_THRESHOLD, 2 * _LARGEST_MMAP_THRESHOLD)
        libc.malloc_trim(0)
