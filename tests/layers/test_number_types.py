"""Every kind of model computes forward and backward in every number type, near its float64 self."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from clearformer import spec as s
from clearformer.reference import initial
from drawing.built import built
from drawing.small import SPECS, inputs

ROUNDING = {torch.float32: 1e-4, torch.bfloat16: 0.25, torch.float16: 0.05}
MORE: dict[str, s.Spec] = {
    "alibi-sandwich": s.DecoderOnly(
        s.Stack(
            8,
            s.Tokens(11),
            (
                s.Block(
                    s.Attention(3, 1, 4, 4, position=s.ALiBi(), score_cap=3.0),
                    s.Dense(8, "tanh"),
                    s.LayerNorm(),
                    s.LayerNorm(),
                    arrangement=s.Sequential("sandwich"),
                ),
            ),
            s.RMSNorm(unit_offset=True, scale_first=True),
        ),
        s.Language(cap=5.0),
        context=16,
    )
}


@pytest.mark.parametrize("dtype", ROUNDING, ids=str)
@pytest.mark.parametrize("name", [*SPECS, *MORE])
def test_forward_and_backward(name: str, dtype: torch.dtype) -> None:
    spec = {**SPECS, **MORE}[name]
    rng = np.random.default_rng(0)
    weights, data = initial.draw(spec, rng), inputs(spec, rng)
    tensors = [torch.from_numpy(each) for each in data]
    with torch.no_grad():
        expected = built(spec, weights)(*tensors)
    model = built(spec, weights, dtype).train()
    found = model(*[each.to(dtype) if each.is_floating_point() else each for each in tensors])
    assert found.dtype == dtype
    if "experts" not in name:  # Rounding may choose another expert.
        extent = float(expected.max() - expected.min())
        assert (found.detach().double() - expected).abs().max() <= ROUNDING[dtype] * extent
    found.float().square().mean().backward()
    assert all(torch.isfinite(each.grad).all() for each in model.parameters() if each.grad is not None)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("dtype", ROUNDING, ids=str)
@pytest.mark.parametrize("name", [*SPECS, *MORE])
def test_cuda_runs_the_same_code(name: str, dtype: torch.dtype) -> None:
    spec = {**SPECS, **MORE}[name]
    rng = np.random.default_rng(0)
    model = built(spec, initial.draw(spec, rng), dtype)
    tensors = [torch.from_numpy(each) for each in inputs(spec, rng)]
    tensors = [each.to(dtype) if each.is_floating_point() else each for each in tensors]
    with torch.no_grad():
        expected = model(*tensors)
        found = model.to("cuda")(*[each.to("cuda") for each in tensors]).cpu()
    if "experts" not in name:
        extent = float(expected.float().max() - expected.float().min())
        assert (found.float() - expected.float()).abs().max() <= 2 * ROUNDING[dtype] * extent
