"""What an update frees is there for the next one, and nothing is asked for anew."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest
import torch

from clearformer.speed.kept_memory import kept_memory

under_glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's malloc alone is told")

# In a process of its own: beside other tests glibc may serve a thread from a side arena, which maps large blocks.
MEASURING = """
import resource
from pathlib import Path
import torch
from clearformer.speed.kept_memory import kept_memory

BYTES = 128 * 2**20

def held():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

def share_handed_back():
    block = torch.ones(BYTES // 4)
    before = held()
    del block
    return (before - held()) / BYTES

try:
    with kept_memory():
        inside = share_handed_back()
        if {fails}:
            raise ZeroDivisionError
except ZeroDivisionError:
    pass
print(inside, share_handed_back())
"""


@under_glibc
@pytest.mark.parametrize("fails", [False, True])
def test_memory_is_kept_within_the_block_and_not_after_it(fails) -> None:
    told = subprocess.run(
        [sys.executable, "-c", MEASURING.format(fails=fails)], capture_output=True, text=True, check=True
    )
    inside, after = map(float, told.stdout.split())
    assert inside < 1 / 8
    assert after > 1 / 2


def test_nothing_is_told_elsewhere(monkeypatch) -> None:
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    monkeypatch.setitem(sys.modules, "ctypes", None)
    with kept_memory():
        assert torch.ones(3).sum() == 3
    monkeypatch.setattr("clearformer.speed.kept_memory.checked_device", torch.device)
    with kept_memory("cuda"):
        assert torch.ones(3).sum() == 3
