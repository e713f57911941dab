"""From the start of a process to its first token, and the most memory it takes: ours, llama.cpp, a bare `import torch`.

All read one GGUF file, which the warming up leaves in the system's cache of files: what is measured is programs.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from clearformer.bench.children import command_of
from clearformer.bench.rounds import Advance
from clearformer.errors import MachineError
from clearformer.messages import bench as messages

Program = Literal["import torch", "clearformer", "llama.cpp"]
CHILD = "clearformer.bench.start_child"
ALLOWED_SECONDS, ALLOWED_BYTES = 1.0, 200_000_000
"""Beyond a bare `import torch`: over llama.cpp's time, and over weights and cache."""
_LONGEST = 600.0


@dataclass(frozen=True)
class StartRow:
    """A program's seconds until its first token, over the runs, and the median of the most memory, in bytes."""

    name: Program
    median: float
    low: float
    high: float
    peak: int


@dataclass(frozen=True)
class Beyond:
    """What ours takes beyond a bare `import torch`, beside what it may: seconds (None without llama.cpp) and bytes."""

    seconds: float
    allowed_seconds: float | None
    bytes: int
    allowed_bytes: int


def measure_start(
    told: Mapping[Program, Mapping[str, object]], python: Path | None, *, runs: int, advance: Advance
) -> list[StartRow]:
    """Alternating runs after one each to warm up; `python` is llama.cpp's. Raises MachineError where one fails."""
    found: dict[Program, list[tuple[float, int]]] = {name: [] for name in told}
    total = (runs + 1) * len(told)
    for number in range(runs + 1):
        for place, (name, settings) in enumerate(told.items()):
            once = start_once(name, settings, python if name == "llama.cpp" else None)
            found[name] += [once] * bool(number)
            advance(number * len(told) + place + 1, total)
    return [_row(name, each) for name, each in found.items()]


def beyond(rows: Sequence[StartRow], held: int) -> Beyond:
    """`held` is the bytes of weights and cache."""
    by_name = {row.name: row for row in rows}
    ours, bare, peer = by_name["clearformer"], by_name["import torch"], by_name.get("llama.cpp")
    seconds = None if peer is None else peer.median + ALLOWED_SECONDS
    return Beyond(ours.median - bare.median, seconds, ours.peak - bare.peak, held + ALLOWED_BYTES)


def start_once(name: Program, settings: Mapping[str, object], python: Path | None) -> tuple[float, int]:
    """Seconds until the first byte of its output, and its peak."""
    reading, writing = os.pipe()
    command = [*command_of(CHILD, python), str(writing), json.dumps({"what": name, **settings})]
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        began = time.perf_counter()
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, pass_fds=(writing,))
        os.close(writing)
        try:
            assert child.stdout is not None
            first = child.stdout.read(1)
            seconds = time.perf_counter() - began
            child.communicate(timeout=_LONGEST)
            with os.fdopen(reading, "rb") as end:
                peak = end.read()
        except BaseException:
            child.kill()
            child.communicate()
            raise
        if child.returncode or not first or not peak.isdigit():
            said.seek(0)
            words = said.read().strip().splitlines()
            raise MachineError(messages.PEER_DIED, name=name, detail=words[-1] if words else "–")
    return seconds, int(peak)


def _row(name: Program, found: Sequence[tuple[float, int]]) -> StartRow:
    seconds = [each for each, _ in found]
    peak = int(statistics.median(each for _, each in found))
    return StartRow(name, statistics.median(seconds), min(seconds), max(seconds), peak)
