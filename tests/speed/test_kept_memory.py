"""What an update frees is there for the next one, and nothing is asked for anew."""

from __future__ import annotations

import platform
import resource
import sys
from pathlib import Path

import pytest
import torch

from clearformer.speed.kept_memory import kept_memory

BYTES = 128 * 2**20
under_glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's malloc alone is told")


def held() -> int:
    """Bytes of memory that the process has pages for."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def handed_back() -> int:
    """Bytes that the process lets go of when a block of BYTES is freed."""
    block = torch.ones(BYTES // 4)
    before = held()
    del block
    return before - held()


@under_glibc
def test_memory_is_kept_within_the_block_and_not_after_it() -> None:
    with kept_memory():
        assert handed_back() < BYTES // 8
    assert handed_back() > BYTES // 2


@under_glibc
def test_memory_is_handed_back_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), kept_memory():
        raise ZeroDivisionError
    assert handed_back() > BYTES // 2


def test_nothing_is_told_elsewhere(monkeypatch) -> None:
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    monkeypatch.setitem(sys.modules, "ctypes", None)
    with kept_memory():
        assert torch.ones(3).sum() == 3
    with kept_memory("meta"):
        assert torch.ones(3).sum() == 3
