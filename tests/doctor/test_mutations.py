"""Every law's probe is missed: without it, a test of its file fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from clearformer.doctor.check import Check
from clearformer.doctor.registry import CHECKS

TESTS = Path(__file__).parents[1]


def judges_of(check: Check) -> list[Path]:
    """Those named as its file; of checks that share a test file, those that name it."""
    room = check.probe.__module__.rsplit(".", 1)[-1]
    checks = TESTS / "doctor" / "checks"
    named = sorted(checks.glob(f"test_{room}*.py"))
    return named or [path for path in sorted(checks.glob("test_*.py")) if f'"{check.id}"' in path.read_text("utf-8")]


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_without_its_probe_a_test_fails(check: Check) -> None:
    files = judges_of(check)
    assert files, f"{check.id} has no tests"
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "doctor.without_probe", *map(str, files)]
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"CLEARFORMER_WITHOUT_PROBE": check.id, "PYTHONPATH": path}
    ended = subprocess.run(command, env=environment, cwd=TESTS.parent, capture_output=True, text=True, check=False)
    assert ended.returncode == 1, ended.stdout[-3000:]
