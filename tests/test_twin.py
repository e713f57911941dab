"""PyTorch equals the NumPy twin, over specs drawn from the whole space, in float64 and float32."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer import spec as s
from clearformer.layers import norm
from clearformer.layers.kernels import Kernel
from clearformer.model import Model
from clearformer.reference import initial
from clearformer.reference import model as twin
from clearformer.reference.activation import sigmoid
from clearformer.taps import OFF
from drawing.built import built
from drawing.inputs import Batch, batch, prefixes
from drawing.kernels import everywhere
from drawing.models import any_spec
from law_testers.conditioning import FLOAT32_MOVES, Nudge, moves
from law_testers.subject import NEAR, TOLERANCE, margins

SEEDS = st.integers(0, 2**32 - 1)


def tensor(array: np.ndarray, dtype: torch.dtype) -> torch.Tensor:
    made = torch.from_numpy(array)
    return made.to(dtype) if made.is_floating_point() else made


def has_prefix(stack: s.Stack) -> bool:
    seen = [block.attention.visibility for block in stack.blocks]
    return any(isinstance(visibility, s.Causal) and visibility.prefix for visibility in seen)


def run_torch(model: Model, spec: s.Spec, batches: tuple[Batch, ...], dtype: torch.dtype) -> np.ndarray:
    data = [tensor(each.data, dtype) for each in batches]
    real = [None if each.real is None else torch.from_numpy(each.real) for each in batches]
    with torch.no_grad():
        match spec:
            case s.EncoderDecoder():
                memory = model.encode(data[0], real=real[0])
                prefix = torch.from_numpy(prefixes()) if has_prefix(spec.decoder) else None
                return model.decode(data[1], memory, real=real[1], prefix=prefix).numpy()
            case s.TwoTowers():
                return model(data[0], data[1], real=real[0]).numpy()
            case s.DecoderOnly():
                prefix = torch.from_numpy(prefixes()) if real[0] is not None and has_prefix(spec.decoder) else None
                return model(data[0], real=real[0], prefix=prefix).numpy()
            case s.EncoderOnly():
                return model(data[0], real=real[0]).numpy()


def run_twin(spec: s.Spec, weights: dict[str, np.ndarray], batches: tuple[Batch, ...], tap) -> np.ndarray:
    first = batches[0]
    match spec:
        case s.EncoderDecoder():
            memory = twin.encode(spec, weights, first.data, real=first.real, tap=tap)
            target = batches[1]
            prefix = prefixes() if has_prefix(spec.decoder) else None
            return twin.decode(spec, weights, target.data, memory, real=target.real, prefix=prefix, tap=tap)
        case s.TwoTowers():
            return twin.compare(spec, weights, first.data, batches[1].data, real=first.real, tap=tap)
        case s.DecoderOnly():
            prefix = prefixes() if first.real is not None and has_prefix(spec.decoder) else None
            return twin.run(spec, weights, first.data, real=first.real, prefix=prefix, tap=tap)
        case s.EncoderOnly():
            return twin.run(spec, weights, first.data, real=first.real, tap=tap)


def batches_for(spec: s.Spec, rng: np.random.Generator) -> tuple[Batch, ...]:
    match spec:
        case s.EncoderDecoder():
            return batch(spec.encoder.input, rng), batch(spec.decoder.input, rng)
        case s.TwoTowers():
            return batch(s.main_stack(spec.text).input, rng), batch(spec.image.encoder.input, rng)
        case _:
            return (batch(s.main_stack(spec).input, rng),)


def real_outputs(output: np.ndarray, answers_to: Batch) -> np.ndarray:
    """Outputs at pads mean nothing; heads that answer once a row have none."""
    if answers_to.real is not None and output.ndim == 3 and output.shape[1] == answers_to.real.shape[1]:
        return output[answers_to.real]
    return output


def compare(spec: s.Spec, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights, batches = initial.draw(spec, rng), batches_for(spec, rng)
    target = batches[-1] if isinstance(spec, s.EncoderDecoder) else batches[0]

    def twins_answer(nudge: Nudge) -> list[np.ndarray]:
        moved = tuple(dataclasses.replace(each, data=nudge(each.data)) for each in batches)
        return [real_outputs(run_twin(spec, {name: nudge(w) for name, w in weights.items()}, moved, OFF), target)]

    (expected,) = twins_answer(lambda values: values)
    extent = max(float(np.ptp(expected)), 1e-3)
    for dtype in (torch.float64, torch.float32):
        with margins() as won:
            found = real_outputs(run_torch(built(spec, weights, dtype), spec, batches, dtype), target)
        if min(won, default=1.0) < NEAR[dtype]:
            return
        assert found.shape == expected.shape
        assert np.isfinite(found).all()
        gap, bound = np.abs(found - expected).max(), TOLERANCE[dtype] * extent
        if gap > bound and dtype == torch.float32:
            bound = max(bound, FLOAT32_MOVES * moves(twins_answer)[0])
        assert gap <= bound


def types_in(value: object) -> Iterator[str]:
    if dataclasses.is_dataclass(value):
        yield type(value).__name__
        for field in dataclasses.fields(value):
            yield from types_in(getattr(value, field.name))
    elif isinstance(value, tuple):
        for item in set(value):
            yield from types_in(item)


def test_pytorch_equals_the_twin_over_the_whole_space() -> None:
    reached: Counter[str] = Counter()

    @settings(max_examples=250)
    @given(any_spec, SEEDS)
    def one(spec: s.Spec, seed: int) -> None:
        reached.update(set(types_in(spec)))
        compare(spec, seed)

    one()
    every = {name for name in s.__all__ if dataclasses.is_dataclass(getattr(s, name))}
    rare = {name: reached[name] for name in sorted(every) if reached[name] < 5}
    assert not rare, f"drawn fewer than five times: {rare}"


@settings(max_examples=50)
@given(any_spec, SEEDS)
def test_pytorch_by_tiles_equals_the_twin(spec: s.Spec, seed: int) -> None:
    with everywhere("tiled"):
        compare(spec, seed)


@pytest.mark.long
@pytest.mark.timeout(5400)
@pytest.mark.parametrize("kernel", ["sdpa", "tiled"])
@settings(max_examples=5000)
@given(spec=any_spec, seed=SEEDS)
def test_pytorch_equals_the_twin_long(kernel: Kernel, spec: s.Spec, seed: int) -> None:
    with everywhere(kernel):
        compare(spec, seed)


def test_the_twins_sigmoid_keeps_its_digits_where_it_is_tiny() -> None:
    x = np.linspace(-700, 700, 1401)
    np.testing.assert_allclose(sigmoid(x), torch.from_numpy(x).sigmoid().numpy(), rtol=1e-12)


def post_norm(layers: int) -> s.DecoderOnly:
    """Norms after the sublayers: with weights of trained size each layer enlarges the rounding of those below."""
    attention = s.Attention(2, 1, 4, 4, s.Causal(), s.Rotary())
    block = s.Block(attention, s.Gated(16), s.RMSNorm(), s.RMSNorm(), arrangement=s.Sequential("post"))
    return s.DecoderOnly(s.Stack(8, s.Tokens(13), (block,) * layers), s.Language(), context=24)


def test_an_ill_conditioned_spec_is_allowed_its_own_condition(monkeypatch: pytest.MonkeyPatch) -> None:
    compare(post_norm(2), seed=7)
    compare(post_norm(20), seed=7)
    monkeypatch.setitem(globals(), "FLOAT32_MOVES", 0)
    with pytest.raises(AssertionError):
        compare(post_norm(20), seed=7)


@pytest.mark.parametrize("layers", [2, 20], ids=["well conditioned", "ill conditioned"])
def test_a_fault_in_float32_alone_is_caught(layers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    forward = norm.RMSNorm.forward

    def coarse(self: norm.RMSNorm, x: torch.Tensor) -> torch.Tensor:
        normed = forward(self, x)
        return normed.bfloat16().float() if x.dtype == torch.float32 else normed

    monkeypatch.setattr(norm.RMSNorm, "forward", coarse)
    with pytest.raises(AssertionError):
        compare(post_norm(layers), seed=7)
