"""From the times of two small decoders to the rates that explain them, and so predict any other.

Writing a token takes a fixed time a block and the reading of every weight: the narrow model shows more of the first,
the wide one of the second. A prompt shows the rate of products with weights, and a longer one that of attention.
"""

from __future__ import annotations

from dataclasses import dataclass

from clearformer.cost.time import Job, decode, prefill
from clearformer.cost.work import Dtype, Work
from clearformer.machine import BackendSpeed
from clearformer.spec.presets import modern_decoder

BEHIND, SHORT, LONG = 128, 256, 1024
NARROW = modern_decoder(width=512, heads=8, kv_heads=4, hidden=1408, layers=40, vocabulary=64)
WIDE = modern_decoder(width=1280, heads=20, kv_heads=5, hidden=3456, layers=12, vocabulary=64)
"""The weights of either, 230 MB and more, come out of memory at every token, as those of real models do: what fits a
server's cache is read half again as fast, and a block between such reads has less to fetch again."""


@dataclass(frozen=True)
class Seconds:
    """A token behind `BEHIND` others, and prompts of `SHORT` and `LONG` tokens."""

    token: float
    short: float
    long: float


def solve(narrow: float, wide: Seconds, *, backend: str, dtype: Dtype, machine: str, threads: int) -> BackendSpeed:
    """Two equations for writing, one of them from the narrow model's seconds a token, and two for reading.

    A rate that the times do not show is as good as the other's.
    """
    small, large = _writing(dtype, narrow=True), _writing(dtype, narrow=False)
    block_s = _solved(small.blocks, small.bytes, narrow, large.blocks, large.bytes, wide.token)
    block_s = min(max(block_s, 0.0), narrow / small.blocks)
    read_s = max(wide.token - large.blocks * block_s, wide.token / 100) / large.bytes
    short, long = (prefill(WIDE, Work(length=length, dtype=dtype)) for length in (SHORT, LONG))
    rest = [seconds - job.blocks * block_s for seconds, job in ((wide.short, short), (wide.long, long))]
    linear_s = _solved(short.linear, short.attention, rest[0], long.linear, long.attention, rest[1])
    fastest = rest[0] / short.flops / 10
    linear_s = min(max(linear_s, fastest), rest[0] / short.linear)
    mixing_s = max((rest[1] - long.linear * linear_s) / long.attention, fastest)
    return BackendSpeed(machine, threads, backend, dtype, block_s, 1e-9 / linear_s, 1e-9 / mixing_s, 1e-9 / read_s)


def _writing(dtype: Dtype, *, narrow: bool) -> Job:
    job = decode(NARROW if narrow else WIDE, Work(length=BEHIND, dtype=dtype))
    assert job is not None
    return job


def _solved(a: float, b: float, sum_: float, c: float, d: float, other: float) -> float:
    """x of a·x + b·y = sum, c·x + d·y = other."""
    return (sum_ * d - other * b) / (a * d - c * b)
