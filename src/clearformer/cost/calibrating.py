"""From the times of two small decoders to the rates that explain them, and so predict any other.

Writing a token takes a fixed time a block and the reading of every weight: the narrow model shows more of the first,
the wide one of the second. A prompt shows the rate of products with weights, and a longer one that of attention.
"""

from __future__ import annotations

from dataclasses import dataclass

from clearformer.cost.time import Job, decode, prefill, stored
from clearformer.cost.work import Work
from clearformer.machine import BackendSpeed
from clearformer.spec import Spec
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


@dataclass(frozen=True)
class Measured:
    """What was measured: a backend in a number type whose weights take `bytes_a_number`, on a machine."""

    backend: str
    dtype: str
    bytes_a_number: float
    machine: str
    threads: int


def solve(narrow: float, wide: Seconds, measured: Measured) -> BackendSpeed:
    """Two equations for writing, one of them from the narrow model's seconds a token, and two for reading.

    A rate that the times do not show is as good as the other's.
    """
    small, large = _writing(NARROW, measured), _writing(WIDE, measured)
    block_s = _solved(small.blocks, small.bytes, narrow, large.blocks, large.bytes, wide.token)
    block_s = min(max(block_s, 0.0), narrow / small.blocks)
    read_s = max(wide.token - large.blocks * block_s, wide.token / 100) / large.bytes
    short, long = (prefill(WIDE, Work(length=length)) for length in (SHORT, LONG))
    rest = [seconds - job.blocks * block_s for seconds, job in ((wide.short, short), (wide.long, long))]
    linear_s = _solved(short.linear, short.attention, rest[0], long.linear, long.attention, rest[1])
    fastest = rest[0] / short.flops / 10
    linear_s = min(max(linear_s, fastest), rest[0] / short.linear)
    mixing_s = max((rest[1] - long.linear * linear_s) / long.attention, fastest)
    about = measured.machine, measured.threads, measured.backend, measured.dtype
    return BackendSpeed(*about, block_s, 1e-9 / linear_s, 1e-9 / mixing_s, 1e-9 / read_s)


def _writing(spec: Spec, measured: Measured) -> Job:
    """Packed weights have a cache in half precision."""
    work = Work(length=BEHIND, dtype="float32" if measured.dtype == "float32" else "bfloat16")
    job = decode(spec, work)
    assert job is not None
    return stored(job, work, measured.bytes_a_number)


def _solved(a: float, b: float, sum_: float, c: float, d: float, other: float) -> float:
    """x of a·x + b·y = sum, c·x + d·y = other."""
    return (sum_ * d - other * b) / (a * d - c * b)
