"""A query that sees nothing gets exact zeros and finite gradients, in every kernel and number type, and in the twin."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from clearformer import spec as s
from clearformer.build import build
from clearformer.layers.kernels import Kernel, attend
from clearformer.layers.mask import Mask
from clearformer.reference import attention as twin
from clearformer.taps import record

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
KERNELS: tuple[Kernel, ...] = ("plain", "tiled", "sdpa")
B, H, G, T, K = 3, 4, 2, 4, 8


def blind_mask(visibility: s.Visibility) -> Mask:
    """Row 0 has no real key, row 1 only its last: causal queries before it see nothing."""
    real = torch.tensor([[False] * T, [False] * (T - 1) + [True], [True] * T])
    slots = torch.arange(T)[None]
    return Mask(visibility, slots, slots, real)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("visibility", [s.Full(), s.Causal(), s.Causal(2)], ids=str)
@pytest.mark.parametrize("biased", [False, True], ids=["plain", "biased"])
def test_blind_queries_give_zeros(dtype: torch.dtype, kernel: Kernel, visibility: s.Visibility, biased: bool) -> None:
    generator = torch.Generator().manual_seed(2)
    query, key, value, bias = (
        torch.randn(B, heads, T, width, generator=generator).mul(5).to(dtype).requires_grad_()
        for heads, width in ((H, K), (G, K), (G, K), (H, T))
    )
    mask = blind_mask(visibility)
    blind = ~mask.visible().any(-1)[:, 0]
    assert blind[0].all()
    assert not blind[2].any()
    mixed = attend(query, key, value, mask, scale=0.5, bias=bias if biased else None, kernel=kernel)
    assert mixed.dtype == dtype
    assert (mixed.transpose(1, 2)[blind] == 0).all()
    assert (mixed.transpose(1, 2)[~blind] != 0).all()
    mixed.float().square().sum().backward()
    for tensor in (query, key, value, *([bias] if biased else [])):
        assert tensor.grad is not None
        assert torch.isfinite(tensor.grad).all()
    assert (query.grad.transpose(1, 2)[blind] == 0).all()


@pytest.mark.parametrize("visibility", [s.Full(), s.Causal(), s.Causal(2)], ids=str)
def test_blind_queries_give_zeros_in_the_twin(visibility: s.Visibility) -> None:
    rng = np.random.default_rng(2)
    query, key, value = (rng.standard_normal((B, H, T, K)) for _ in range(3))
    seen = blind_mask(visibility).visible().numpy()
    mixed, weights = twin.scaled_dot_product_attention(query, key, value, seen)
    blind = ~np.broadcast_to(seen.any(-1), (B, H, T))
    assert (mixed[blind] == 0).all()
    assert (weights[blind] == 0).all()
    assert np.isfinite(mixed).all()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_row_of_padding_does_not_poison_a_model(dtype: torch.dtype, kernel: Kernel) -> None:
    block = s.Block(s.Attention(4, 2, 4, 4, position=s.Rotary()), s.Gated(16), s.RMSNorm(), s.RMSNorm())
    spec = s.DecoderOnly(s.Stack(16, s.Tokens(11), (block,) * 2), s.Language(), context=8)
    model = build(spec, dtype=dtype, generator=torch.Generator().manual_seed(0))
    for each in model.decoder.blocks:
        each.attention.kernel = kernel
    real = torch.tensor([[True] * T, [False] * T])
    seen, tap = record("decoder.blocks.*.attention.heads")
    logits = model(torch.arange(2 * T).view(2, T), real=real, tap=tap)
    assert len(seen) == 2
    assert all((heads[1] == 0).all() for heads in seen.values())
    logits.float().square().mean().backward()
    assert all(torch.isfinite(each.grad).all() for each in model.parameters())
