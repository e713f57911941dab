"""Small reads of what the operating system publishes; an absent file or name reads as empty."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def lines(path: Path) -> list[str]:
    """The lines of a text file."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def words(path: Path) -> list[str]:
    """The words of a text file, whatever lines they stand on."""
    return " ".join(lines(path)).split()


def numbers(path: Path) -> dict[str, int]:
    """`name number …` lines as a table, as in /proc/meminfo and memory.stat; a colon after the name is dropped."""
    rows = [line.split() for line in lines(path)]
    return {row[0].rstrip(":"): int(row[1]) for row in rows if len(row) > 1 and row[1].isdigit()}


def sysctl(name: str) -> str:
    """macOS's answer for a name, empty elsewhere."""
    if sys.platform != "darwin":
        return ""
    answer = subprocess.run(["sysctl", "-n", name], capture_output=True, text=True, check=False)
    return answer.stdout.strip()
