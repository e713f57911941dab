"""How long reading and writing take here, from what the machine was measured to do.

The roofline (Williams et al. 2009, doi 10.1145/1498765.1498785): work takes as long as its operations at the measured
peak, or as its bytes at the measured rate, whichever is longer. A backend that was measured itself reaches less than
either, and its own rates say how much.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from clearformer.cost.flops import attention, linear_parts, rows_read
from clearformer.cost.formula import ONE, ZERO, Formula, letter, number, total
from clearformer.cost.kv_cache import keeps_cache, memory_numbers, numbers_per_token
from clearformer.cost.parameters import side_sums
from clearformer.cost.weights import Weight
from clearformer.cost.work import Pass, Work, passes
from clearformer.machine import BackendSpeed, Speed
from clearformer.spec import Spec

Basis = Literal["backend", "roofline"]


@dataclass(frozen=True)
class Job:
    """Operations and bytes of one call: `linear` and `attention` FLOPs, `weights` and `cache` bytes read, `blocks`."""

    linear: int
    attention: int
    weights: int
    cache: int
    blocks: int

    @property
    def flops(self) -> int:
        return self.linear + self.attention

    @property
    def bytes(self) -> int:
        return self.weights + self.cache

    @property
    def intensity(self) -> float:
        """FLOPs a byte: above the machine's peak by its rate, operations are what takes the time; below, reading."""
        return self.flops / self.bytes


@dataclass(frozen=True)
class Time:
    """Seconds, None where nothing was measured. `decode_s` is None too for a model that writes nothing.

    `balance` is the machine's FLOPs a byte: its peak by its rate of reading.
    """

    prefill_s: float | None
    decode_s: float | None
    basis: Basis | None
    backend: str | None
    balance: float | None


def prefill(spec: Spec, work: Work) -> Job:
    """Reading all positions, with an answer at the last one where the model writes."""
    found = [replace(each, answers=ONE) if each.side.writes else each for each in passes(spec, work)]
    return _job(found, work, cached=False)


def decode(spec: Spec, work: Work) -> Job | None:
    """Writing one token behind a text that fills the work's positions; None for a model that writes nothing."""
    if not keeps_cache(spec):
        return None
    writing = [each for each in passes(spec, work) if each.side.writes]
    steps = [replace(each, queries=letter("T", 1), answers=ONE, reads_memory=False) for each in writing]
    return _job(steps, work, cached=True)


def stored(job: Job, work: Work, bytes_a_number: float) -> Job:
    """The job where weights are kept in other numbers than the work's: packed ones take a fraction of them."""
    return replace(job, weights=round(job.weights * bytes_a_number / work.bytes_each))


def expected(spec: Spec, work: Work, speed: Speed | None, backend: BackendSpeed | None) -> Time:
    """From the backend's own rates where it was measured in this number type, else from peak and bandwidth."""
    reading, writing = prefill(spec, work), decode(spec, work)
    peak = peak_of(speed, work)
    balance = peak / (speed.read_gb_per_s * 1e9) if speed and peak else None
    if backend is not None:
        seconds = [None if job is None else backend_seconds(job, backend) for job in (reading, writing)]
        return Time(seconds[0], seconds[1], "backend", backend.backend, balance)
    if speed is None or peak is None:
        return Time(None, None, None, None, balance)
    rate = speed.read_gb_per_s * 1e9
    seconds = [None if job is None else max(job.flops / peak, job.bytes / rate) for job in (reading, writing)]
    return Time(seconds[0], seconds[1], "roofline", None, balance)


def backend_seconds(job: Job, rates: BackendSpeed) -> float:
    """Each block's fixed time, then products at the rate that limits them, then attention."""
    linear = max(job.weights / (rates.read_gb_per_s * 1e9), job.linear / (rates.linear_gflops * 1e9))
    mixing = max(job.cache / (rates.read_gb_per_s * 1e9), job.attention / (rates.attention_gflops * 1e9))
    return job.blocks * rates.block_s + linear + mixing


def peak_of(speed: Speed | None, work: Work) -> float | None:
    """FLOPs a second of the number type; None where it was not measured."""
    if speed is None:
        return None
    match work.dtype:
        case "float32":
            return speed.float32_gflops * 1e9
        case "bfloat16":
            return None if speed.bfloat16_gflops is None else speed.bfloat16_gflops * 1e9
        case _:
            return None


def _job(found: list[Pass], work: Work, *, cached: bool) -> Job:
    linear = sum(amount.value for each in found for amount in linear_parts(each).values())
    mixing = sum(attention(each, visible=False).value for each in found)
    weights = sum(_numbers_read(each).value for each in found) * work.bytes_each
    cache = sum(_cache_numbers(each).value for each in found if cached) * work.bytes_each * work.batch
    return Job(linear, mixing, weights, cache, sum(len(each.side.stack.blocks) for each in found))


def _numbers_read(each: Pass) -> Formula:
    """Every matrix once; of experts as many as the rows may choose."""

    def of(weight: Weight) -> Formula:
        rows = rows_read(each, weight.reads).value
        if weight.kind != "matrix" or not rows:
            return ZERO
        kept, used = weight.copies.value, weight.used.value
        return number(min(kept, used * rows) if kept else used) * weight.count

    return total(side_sums(each.side, of, lambda weight: weight.part).values())


def _cache_numbers(each: Pass) -> Formula:
    """What one row's step reads of its past and of its source."""
    return numbers_per_token(each.side) * each.keys + each.memory * memory_numbers(each.side)
