"""Times follow from what was measured; operations and bytes of a step are counted by hand."""

from __future__ import annotations

import pytest

from clearformer import spec as s
from clearformer.cost import cost
from clearformer.cost.parameters import parameters
from clearformer.cost.time import backend_seconds, decode, expected, prefill
from clearformer.cost.work import Work, takes_length
from clearformer.machine import BackendSpeed, Speed
from clearformer.spec.presets import modern_decoder, vit
from drawing import small

SPEED = Speed("here", 2, float32_gflops=100.0, bfloat16_gflops=None, read_gb_per_s=20.0)
RATES = BackendSpeed(
    "here", 2, "torch", "float32", 1e-4, linear_gflops=50.0, attention_gflops=100.0, read_gb_per_s=10.0
)
SPEC = modern_decoder()


def test_a_step_reads_every_matrix_once_and_the_cache_once() -> None:
    step = decode(SPEC, Work(length=100))
    assert step is not None
    norms = (2 * 30 + 1) * 576
    assert step.weights == 4 * (parameters(SPEC).total - norms)
    assert step.cache == 100 * 4 * 30 * 2 * 3 * 64
    assert step.linear == 2 * step.weights // 4
    assert step.attention == 30 * 2 * 100 * 9 * 128


def test_a_batch_reads_the_weights_once_and_caches_of_its_own() -> None:
    one, eight = (decode(SPEC, Work(batch, 100)) for batch in (1, 8))
    assert one is not None
    assert eight is not None
    assert eight.weights == one.weights
    assert (eight.cache, eight.flops) == (8 * one.cache, 8 * one.flops)


def test_one_token_reads_the_chosen_experts_and_many_read_all() -> None:
    mixture = small.decoder(s.Block(s.Attention(2, 2, 4, 4), small.experts(s.SoftmaxRouter()), None, None))
    one, many = decode(mixture, Work(1, 8)), decode(mixture, Work(50, 8))
    assert one is not None
    assert many is not None
    assert many.weights - one.weights == 4 * 2 * 3 * 8 * 6


def test_the_head_answers_once_in_a_prefill() -> None:
    whole, one = prefill(SPEC, Work(length=64)), prefill(SPEC, Work(length=1))
    head = 2 * 576 * 49152
    assert whole.linear - head == 64 * (one.linear - head)


def test_the_roofline_is_the_longer_of_operations_and_bytes() -> None:
    found = expected(SPEC, Work(length=512), SPEED, None)
    reading, step = prefill(SPEC, Work(length=512)), decode(SPEC, Work(length=512))
    assert step is not None
    assert found.prefill_s == reading.flops / 100e9
    assert found.decode_s == step.bytes / 20e9
    assert (found.basis, found.backend, found.balance) == ("roofline", None, 5.0)


def test_a_measured_backend_goes_before_the_roofline() -> None:
    found = expected(SPEC, Work(length=512), SPEED, RATES)
    step = decode(SPEC, Work(length=512))
    assert step is not None
    assert found.decode_s == backend_seconds(step, RATES) == pytest.approx(30 * 1e-4 + step.bytes / 10e9)
    assert (found.basis, found.backend) == ("backend", "torch")


def test_a_model_that_writes_nothing_takes_no_time_to_write() -> None:
    found = expected(vit(), Work(), SPEED, RATES)
    assert found.decode_s is None
    assert found.prefill_s


def test_a_number_type_that_was_not_measured_has_no_time() -> None:
    found = expected(SPEC, Work(dtype="bfloat16"), SPEED, None)
    assert (found.prefill_s, found.decode_s, found.basis) == (None, None, None)


def test_everything_prints() -> None:
    for spec in small.SPECS.values():
        text = str(cost(spec, length=9 if takes_length(spec) else None, speed=SPEED, fit=10**9))
        assert "Parameters" in text
        assert "–" not in text
