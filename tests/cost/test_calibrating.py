"""Rates are found again from the times that they make, and damaged or foreign files hold none."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from clearformer.bench.expected import expected_tok_s, rates_of
from clearformer.cost.calibrating import BEHIND, LONG, NARROW, SHORT, WIDE, Measured, Seconds, solve
from clearformer.cost.time import backend_seconds, decode, prefill, stored
from clearformer.cost.work import Work
from clearformer.machine import BackendSpeed, remember_backends, remembered_backends
from clearformer.machine.backends import FILE
from clearformer.machine.speed import identity
from clearformer.native.library import found
from clearformer.spec import DecoderOnly
from clearformer.spec.presets import modern_decoder
from clearformer.speed.backends import How, time_backend

RATES = BackendSpeed(
    "here", 2, "torch", "float32", 2e-4, linear_gflops=200.0, attention_gflops=80.0, read_gb_per_s=15.0
)


BYTES = {"float32": 4.0, "bfloat16": 2.0, "int8": 1.0625, "int4": 0.625}


def seconds(spec: DecoderOnly, rates: BackendSpeed) -> Seconds:
    """What a backend of exactly these rates takes."""
    work = Work(length=BEHIND, dtype="float32" if rates.dtype == "float32" else "bfloat16")
    token = decode(spec, work)
    assert token is not None
    token = stored(token, work, BYTES[rates.dtype])
    prompts = (prefill(spec, Work(length=length)) for length in (SHORT, LONG))
    return Seconds(*(backend_seconds(job, rates) for job in (token, *prompts)))


def solved(rates: BackendSpeed) -> BackendSpeed:
    measured = Measured(rates.backend, rates.dtype, BYTES[rates.dtype], rates.machine, rates.threads)
    return solve(seconds(NARROW, rates).token, seconds(WIDE, rates), measured)


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize("change", [{}, {"block_s": 5e-5}, {"linear_gflops": 600.0}, {"attention_gflops": 300.0}])
def test_rates_are_found_again_from_the_times_that_they_make(change: dict[str, float], dtype: str) -> None:
    rates = dataclasses.replace(RATES, dtype=dtype, **change)
    found = solved(rates)
    assert (found.machine, found.threads, found.backend, found.dtype) == ("here", 2, "torch", dtype)
    for name in ("block_s", "linear_gflops", "attention_gflops", "read_gb_per_s"):
        assert getattr(found, name) == pytest.approx(getattr(rates, name), rel=1e-6), name


def test_times_that_no_rates_explain_still_give_rates() -> None:
    odd = solve(1e-3, Seconds(1e-3, 1e-2, 1e-2), Measured("torch", "float32", 4.0, "", 1))
    assert odd.block_s >= 0
    assert min(odd.linear_gflops, odd.attention_gflops, odd.read_gb_per_s) > 0


def test_what_is_kept_is_this_machines(tmp_path: Path) -> None:
    mine = dataclasses.replace(RATES, machine=identity())
    remember_backends([mine, RATES], tmp_path)
    assert remembered_backends(tmp_path) == (mine,)
    (tmp_path / FILE).write_text("[{}]")
    assert remembered_backends(tmp_path) == ()
    (tmp_path / FILE).unlink()
    assert remembered_backends(tmp_path) == ()


def test_a_bench_is_told_what_to_expect(tmp_path: Path) -> None:
    mine = dataclasses.replace(RATES, machine=identity())
    remember_backends([mine], tmp_path)
    spec = modern_decoder()
    rates = rates_of(tmp_path, "torch", "float32", 2)
    assert rates == mine
    assert rates_of(tmp_path, "torch", "float32", 1) is None
    asked = {"rates": rates, "bytes_a_number": 4.0, "prompt": 128, "new": 128}
    step = decode(spec, Work(length=192))
    assert step is not None
    assert expected_tok_s(spec, "decode", **asked) == 1 / backend_seconds(step, mine)
    reading = prefill(spec, Work(length=128))
    assert expected_tok_s(spec, "prefill", **asked) == 128 / backend_seconds(reading, mine)
    packed = dataclasses.replace(mine, dtype="int4")
    half = Work(length=192, dtype="bfloat16")
    step = decode(spec, half)
    assert step is not None
    found = expected_tok_s(spec, "decode", packed, 0.625, prompt=128, new=128)
    assert found == 1 / backend_seconds(stored(step, half, 0.625), packed)


def test_the_small_decoders_are_timed_as_they_are_asked() -> None:
    tiny = modern_decoder(width=64, heads=2, kv_heads=2, hidden=64, layers=1, vocabulary=64)
    asked = {"threads": 1, "behind": 3, "prompts": (2, 5)}
    ways: list[tuple[How, str, float]] = [("torch", "float32", 4.0)]
    if found().why is None:
        # A group of 32 has a scale in half precision, in int4 a minimum too; the table of 64 tokens is int8 in both.
        ways += [("native", "float32", 4.0), ("native", "bfloat16", 2.0), ("native", "int8", 34 / 32)]
        ways += [("native", "int4", 20 / 32)]
    for how, dtype, each in ways:
        times = time_backend(tiny, dtype, how=how, **asked)
        assert times is not None
        assert len(times.prompts) == 2
        assert min(times.token, *times.prompts) > 0
        assert times.bytes_a_number == pytest.approx(each, rel=0.25)
    # Nothing is packed in float32.
    assert time_backend(tiny, "float32", how="torch-packed", **asked) is None
