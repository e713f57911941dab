"""What can be measured: a program that continues prompts greedily, with a stopwatch at each token."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass
class Stopwatch:
    """Started at the call, read at each new token; seconds."""

    started: float = field(default_factory=time.perf_counter)
    marks: list[float] = field(default_factory=list)

    def mark(self) -> None:
        self.marks.append(time.perf_counter())


@dataclass(frozen=True)
class Written:
    """The new tokens of one run, a row a prompt, and when each row had its next."""

    tokens: tuple[tuple[int, ...], ...]
    watch: Stopwatch

    @property
    def prefill_seconds(self) -> float:
        """From the call to the first new token of every row."""
        return self.watch.marks[0] - self.watch.started

    @property
    def decode_seconds(self) -> float:
        """From the first new token to the last."""
        return self.watch.marks[-1] - self.watch.marks[0]


class Contestant(Protocol):
    """A program with its model loaded."""

    @property
    def name(self) -> str: ...

    def write(self, prompts: Sequence[Sequence[int]], new: int) -> Written:
        """Continue prompts of one length by exactly `new` tokens, the likeliest each time."""
        ...
