"""The preallocated cache: failures leave it as it was, rows can be kept and reordered, room and bytes are exact."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from clearformer import spec as s
from clearformer.cache.static import StaticCache, cache_bytes
from clearformer.errors import GenerationError
from clearformer.layers.cache import Cache, LayerCache
from clearformer.layers.feedforward import Gated
from clearformer.messages import layers as messages
from clearformer.model import DecoderOnly
from drawing.built import drawn
from drawing.small import SPECS

F64 = torch.float64
IDS = torch.tensor([[3, 8, 1, 6, 5], [2, 2, 9, 0, 7], [4, 1, 1, 10, 3]])


def a_model(name: str = "decoder") -> tuple[DecoderOnly, StaticCache]:
    model = drawn(SPECS[name], 2)
    assert isinstance(model, DecoderOnly)
    return model, StaticCache(model.spec.decoder, batch=3, capacity=8, dtype=F64)


def say(model: DecoderOnly, ids: Tensor, cache: StaticCache, **how: Tensor) -> Tensor:
    with torch.no_grad():
        return model(ids, cache=cache, **how)


def test_it_is_a_cache() -> None:
    _, cache = a_model()
    assert isinstance(cache, Cache)
    assert isinstance(cache.layer(0), LayerCache)


@pytest.mark.parametrize("padded", [False, True])
def test_a_failure_in_the_middle_leaves_it_as_it_was(monkeypatch: pytest.MonkeyPatch, padded: bool) -> None:
    """A step fails once both layers have written, perhaps with padding; what follows is as if it had never been."""
    model, cache = a_model()
    _, other = a_model()
    real = {"real": torch.tensor([[True, True], [True, False], [True, True]])} if padded else {}
    for each in (cache, other):
        say(model, IDS[:, :2], each)
    forward, calls = Gated.forward, []

    def fail_second(self: Gated, *given: object) -> Tensor:
        calls.append(self)
        if len(calls) == 2:
            raise MemoryError
        return forward(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(Gated, "forward", fail_second)
        with pytest.raises(MemoryError):
            say(model, IDS[:, 3:5], cache, **real)
    assert (cache.length, cache.padded, cache.counts.tolist()) == (2, False, [2, 2, 2])
    for step in (IDS[:, 2:4], IDS[:, 4:]):
        assert torch.equal(say(model, step, cache), say(model, step, other))


@pytest.mark.parametrize("name", ["decoder", "decoder-latent"])
def test_kept_rows_go_on_in_their_new_order(name: str) -> None:
    model, cache = a_model(name)
    real = torch.tensor([[False, True, True], [True, True, True], [False, False, True]])
    say(model, IDS[:, :3], cache, real=real)
    rows = torch.tensor([2, 0, 0, 1])
    cache.keep(rows)
    assert cache.counts.tolist() == [1, 2, 2, 3]
    following = torch.tensor([[6], [7], [8], [9]])
    found = say(model, following, cache)
    with torch.no_grad():
        whole = model(
            torch.cat((IDS[rows, :3], following), 1), real=torch.cat((real[rows], torch.ones(4, 1).bool()), 1)
        )
    torch.testing.assert_close(found[:, 0], whole[:, -1], rtol=0, atol=1e-10)


def test_memory_is_kept_with_its_rows() -> None:
    model = drawn(SPECS["encoder-decoder"], 2)
    cache = StaticCache(model.spec.decoder, batch=3, capacity=8, dtype=F64)
    source = torch.tensor([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    rows = torch.tensor([2, 0])
    with torch.no_grad():
        model.decode(IDS[:, :2], model.encode(source), cache=cache)
        cache.keep(rows)
        kept = model.encode(source[rows])
        found = model.decode(IDS[rows, 2:3], kept, cache=cache)
        whole = model.decode(IDS[rows, :3], kept)
    torch.testing.assert_close(found[:, 0], whole[:, -1], rtol=0, atol=1e-10)


def test_no_more_is_taken_than_fits_and_nothing_is_lost() -> None:
    model, cache = a_model()
    say(model, IDS, cache)
    with pytest.raises(GenerationError, match="holds 8 positions; 9 are needed") as caught:
        say(model, IDS[:, :4], cache)
    assert caught.value.failure is messages.CACHE_FULL
    assert cache.length == 5
    say(model, IDS[:, :3], cache)
    assert cache.length == 8


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    ("attention", "numbers"),
    [
        (s.Attention(4, 2, 8, 6), 2 * (8 + 6)),
        (s.Attention(4, 4, 8, 8), 4 * (8 + 8)),
        (s.LatentAttention(4, 8, 8, 12, s.Rotary(width=4)), 12 + 4),
    ],
    ids=["grouped", "multi-head", "latent"],
)
def test_bytes_are_what_a_token_keeps(attention: s.AnyAttention, numbers: int, dtype: torch.dtype) -> None:
    """G·K + G·U numbers a token and layer; Z + R for latent attention, whatever the number of heads."""
    block = s.Block(attention, s.Dense(8), s.RMSNorm(), s.RMSNorm())
    stack = s.Stack(8, s.Tokens(9), (block,) * 3)
    cache = StaticCache(stack, batch=2, capacity=10, dtype=dtype)
    held = sum(tensor.nbytes for index in range(3) for tensor in cache.layer(index).tensors)
    assert cache_bytes(stack, 2, 10, dtype) == held == 3 * 2 * 10 * numbers * dtype.itemsize


def test_the_cache_of_the_source_documents() -> None:
    """32 layers, 32 heads of 128 in float16: 524,288 bytes a token; with 8 key/value heads a quarter."""
    for kv_heads, bytes_a_token in ((32, 524_288), (8, 131_072)):
        block = s.Block(s.Attention(32, kv_heads, 128, 128), s.Dense(8), s.RMSNorm(), s.RMSNorm())
        stack = s.Stack(8, s.Tokens(9), (block,) * 32)
        assert cache_bytes(stack, 1, 4096, torch.float16) == bytes_a_token * 4096
