"""Code is loaded here as the child process loads it, which may change where modules are looked for."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True)
def path_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test puts in front of `sys.path` must not shadow a module in the next one's processes."""
    monkeypatch.setattr(sys, "path", list(sys.path))
