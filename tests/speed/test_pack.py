"""A packed model is the plain one, computed by the same kernel from another order of the same weights."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from clearformer.build import build
from clearformer.layers.norm import RMSNorm
from clearformer.spec import Biases, Experts, Gated, SoftmaxRouter
from clearformer.spec import RMSNorm as RMSNormSpec
from clearformer.spec.presets import modern_decoder, tiny_gpt
from clearformer.speed.pack import MirroredNorm, PackedLinear, can_pack, is_packed, packed

SMALL = modern_decoder(width=64, heads=4, kv_heads=2, hidden=96, layers=2, vocabulary=50, context=64)
MIXED = dataclasses.replace(
    SMALL.decoder.blocks[0],
    attention=dataclasses.replace(SMALL.decoder.blocks[0].attention, bias=Biases.everywhere()),
    feedforward=Experts(4, 2, Gated(48), SoftmaxRouter()),
)
SPECS = {
    "modern": SMALL,
    "gpt": tiny_gpt(width=64, layers=2, vocabulary=50, context=64),
    "experts": dataclasses.replace(SMALL, decoder=dataclasses.replace(SMALL.decoder, blocks=(MIXED,))),
}
HERE = can_pack(torch.nn.Linear(2, 2, dtype=torch.bfloat16))
packing = pytest.mark.skipif(not HERE, reason="this processor's oneDNN does not compute bfloat16")


@packing
@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("length", [1, 9])
def test_logits_are_those_of_the_plain_model(name: str, length: int) -> None:
    plain = build(SPECS[name], dtype=torch.bfloat16, generator=torch.Generator().manual_seed(0)).eval()
    fast = packed(plain)
    ids = torch.arange(length)[None]
    with torch.no_grad():
        expected, found = plain(ids), fast(ids)
    spread = expected.max() - expected.min()
    assert is_packed(fast)
    assert (found - expected).abs().max() <= 0.02 * spread  # Three bits of bfloat16's eight.


@packing
def test_the_plain_model_stays_whole_and_other_weights_are_shared() -> None:
    plain = build(SMALL, dtype=torch.bfloat16).eval()
    names = set(dict(plain.named_parameters()))
    fast = packed(plain)
    assert set(dict(plain.named_parameters())) == names
    assert not is_packed(plain)
    table, shared = plain.decoder.embed.token.weight, fast.decoder.embed.token.weight
    assert table.data_ptr() == shared.data_ptr()
    assert not any(type(module) is torch.nn.Linear for block in fast.decoder.blocks for module in block.modules())


@packing
def test_every_projection_is_packed_and_no_router() -> None:
    fast = packed(build(SPECS["experts"], dtype=torch.bfloat16).eval())
    count = sum(isinstance(module, PackedLinear) for module in fast.modules())
    head, attention, expert = 1, 2, 2  # Query, key and value are one product, and so are gate and up.
    assert count == head + attention + 4 * expert
    assert isinstance(fast.decoder.blocks[0].feedforward.router, torch.nn.Linear)


@pytest.mark.parametrize("unit_offset", [False, True])
def test_the_mirrored_norm_is_the_norm(unit_offset: bool) -> None:
    plain = RMSNorm(48, RMSNormSpec(1e-5, unit_offset)).double()
    torch.nn.init.uniform_(plain.weight, 0.7, 1.3)
    x = 3 + torch.randn(5, 48, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(MirroredNorm(plain)(x), plain(x).detach(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_other_number_types_stay_as_they_are(dtype: torch.dtype) -> None:
    model = build(SMALL, dtype=dtype)
    assert packed(model) is model
