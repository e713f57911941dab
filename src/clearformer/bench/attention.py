"""Attention alone, by kernel and length: time, memory, and what would not fit."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Literal

from clearformer.bench.children import Child
from clearformer.bench.rounds import Advance
from clearformer.cost.attention_memory import Kernel, Sizes, held
from clearformer.machine import memory

KERNELS: tuple[Kernel, ...] = ("plain", "tiled", "sdpa")
Outcome = Literal["measured", "too large", "failed"]
# Of the free memory, since what is predicted leaves out the smaller things.
_SAFE_SHARE = 0.8
# After so many seconds at one length no further round is begun, if there were two.
_LONG, _LEAST_ROUNDS = 60.0, 2


@dataclass(frozen=True)
class AttentionWork:
    """What is computed: causal attention, forward, or with the gradients of all inputs too; `window`, `dropout` as in a
    spec."""

    batch: int
    heads: int
    kv_heads: int
    width: int
    dtype: Literal["float32", "bfloat16"]
    training: bool
    window: int | None = None
    dropout: float = 0.0

    def sizes(self, length: int) -> Sizes:
        each = 4 if self.dtype == "float32" else 2
        return Sizes(self.batch, self.heads, self.kv_heads, length, self.width, each)


@dataclass(frozen=True)
class AttentionRow:
    """One kernel at one length; seconds and peak bytes are None where it was not run, or died. `ratio` is the median
    over the rounds of SDPA's time by this one's."""

    kernel: Kernel
    length: int
    outcome: Outcome
    runs: int
    median: float | None
    low: float | None
    high: float | None
    ratio: float | None
    predicted: int
    peak: int | None


def measure_attention(
    work: AttentionWork, lengths: Sequence[int], *, runs: int, threads: int, advance: Advance
) -> list[AttentionRow]:
    """Rows by length and kernel, in alternating runs after one each to warm up."""
    rows = []
    for place, length in enumerate(lengths):
        rows += _at_length(work, length, runs=runs, threads=threads)
        advance(place + 1, len(lengths))
    return rows


def _at_length(work: AttentionWork, length: int, *, runs: int, threads: int) -> list[AttentionRow]:
    how = {"training": work.training, "dropout": work.dropout > 0}
    predicted = {kernel: held(work.sizes(length), kernel, **how).value for kernel in KERNELS}
    seconds: dict[Kernel, list[float]] = {kernel: [] for kernel in KERNELS}
    peaks: dict[Kernel, int] = {}
    tried = [kernel for kernel in KERNELS if would_fit(predicted[kernel])]
    with ExitStack() as stack:
        children = {kernel: stack.enter_context(_child(work, kernel, length, threads)) for kernel in tried}
        began = time.perf_counter()
        for number in range(runs + 1):
            if number > _LEAST_ROUNDS and time.perf_counter() - began > _LONG:
                break
            for kernel, child in children.items():
                found = child.run()
                if found is not None:
                    peaks[kernel] = found["peak"]
                    # The first is the warming up.
                    seconds[kernel] += [found["seconds"]] * bool(number)
        died = {kernel for kernel, child in children.items() if not child.alive}
    return [
        _row(kernel, length, predicted[kernel], None if kernel in died else peaks.get(kernel), seconds, kernel in tried)
        for kernel in KERNELS
    ]


def _child(work: AttentionWork, kernel: Kernel, length: int, threads: int) -> Child:
    settings = {**asdict(work), "kernel": kernel, "length": length, "threads": threads}
    return Child("clearformer.bench.attention_child", settings)


def _row(
    kernel: Kernel, length: int, predicted: int, peak: int | None, seconds: dict[Kernel, list[float]], tried: bool
) -> AttentionRow:
    found, beside = seconds[kernel], seconds["sdpa"]
    if peak is None or not found:
        return AttentionRow(
            kernel, length, "failed" if tried else "too large", 0, None, None, None, None, predicted, None
        )
    ratio = statistics.median(b / a for a, b in zip(found, beside, strict=False)) if beside else None
    figures = statistics.median(found), min(found), max(found)
    return AttentionRow(kernel, length, "measured", len(found), *figures, ratio, predicted, peak)


def would_fit(needed: int) -> bool:
    """Whether so many bytes are free, with room to spare."""
    available = memory().available
    return available is None or needed <= _SAFE_SHARE * available
