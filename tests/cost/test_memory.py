"""Memory is what an eager step really holds; caches are as large as they are allocated."""

from __future__ import annotations

import resource
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings

from clearformer import spec as s
from clearformer.build import build
from clearformer.cache.static import StaticCache, cache_bytes
from clearformer.cost.activations import activations
from clearformer.cost.formula import ZERO, letter
from clearformer.cost.kv_cache import kv_cache
from clearformer.cost.memory import memory, optimizer_state
from clearformer.cost.parameters import parameters
from clearformer.cost.work import BYTES, Kernel, Work
from clearformer.layers.attention import Attention
from clearformer.layers.stack import Stack
from clearformer.loss import cross_entropy
from clearformer.spec.presets import bert_encoder, modern_decoder, paper, tiny_gpt, vit
from cost.known import llama_7b
from cost.live_bytes import LiveBytes
from drawing.models import decoders

B, T, V = 8, 64, 300
GPT = tiny_gpt(width=96, heads=3, layers=3, vocabulary=V, context=T)
TODAY = modern_decoder(width=96, heads=6, kv_heads=2, hidden=256, layers=3, vocabulary=V, context=T)
PAPER = paper(width=64, heads=4, hidden=128, layers=2, vocabulary=V, context=T)
BERT = bert_encoder(width=96, heads=4, hidden=256, layers=3, vocabulary=V, context=T)
VIT = vit(size=(32, 32), patch=4, classes=10, width=96, heads=4, hidden=256, layers=3)
MIXTURE = replace(
    TODAY,
    decoder=replace(
        TODAY.decoder,
        blocks=tuple(
            replace(block, feedforward=s.Experts(4, 2, s.Gated(128), s.SoftmaxRouter("after")))
            for block in TODAY.decoder.blocks
        ),
    ),
)
FEW_ACTIVATIONS = tiny_gpt(width=256, heads=4, layers=2, vocabulary=2000, context=T)


def loss(model: Any) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    match model.spec:
        case s.EncoderDecoder():
            source, target = (torch.randint(V, (B, length), generator=generator) for length in (T, T // 2))
            answer = model(source, target)
        case s.EncoderOnly(encoder=s.Stack(input=s.Patches())):
            answer = model(torch.randn(B, 3, 32, 32, generator=generator))
        case _:
            answer = model(torch.randint(V, (B, T), generator=generator))
    targets = torch.randint(answer.shape[-1], answer.shape[:-1], generator=generator)
    total, units = cross_entropy(answer, targets)
    return total / units


def work_of(spec: s.Spec, kernel: Kernel, recompute: bool) -> Work:
    if isinstance(spec, s.EncoderDecoder):
        return Work(B, T // 2, T, kernel=kernel, recompute=recompute)
    return Work(B, T, kernel=kernel, recompute=recompute)


def step_bytes(spec: s.Spec, kernel: Kernel, recompute: bool, *, keep_gradients: bool) -> int:
    """The most that is alive in an update whose optimizer has its state; gradients may be kept from the pass before."""
    model = build(spec, generator=torch.Generator().manual_seed(0))
    for module in model.modules():
        if isinstance(module, Attention):
            module.kernel = kernel
        if isinstance(module, Stack):
            module.recompute = recompute
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    loss(model).backward()
    optimizer.step()
    if not keep_gradients:
        optimizer.zero_grad(set_to_none=True)
    with LiveBytes() as live:
        kept = [*model.parameters(), *(value for state in optimizer.state.values() for value in state.values())]
        for tensor in (*kept, *(weight.grad for weight in model.parameters() if weight.grad is not None)):
            live.note(tensor)
        loss(model).backward()
        optimizer.step()
    return live.most


CASES = [
    pytest.param(GPT, "plain", False, id="gpt"),
    pytest.param(GPT, "sdpa", False, id="gpt, scores not held"),
    pytest.param(GPT, "tiled", False, id="gpt, by tiles"),
    pytest.param(TODAY, "tiled", False, id="today, by tiles"),
    pytest.param(TODAY, "plain", False, id="today"),
    pytest.param(PAPER, "plain", False, id="paper"),
    pytest.param(BERT, "plain", False, id="bert"),
    pytest.param(VIT, "plain", False, id="vit"),
    pytest.param(MIXTURE, "plain", False, id="mixture"),
    pytest.param(FEW_ACTIVATIONS, "plain", False, id="few activations"),
    pytest.param(GPT, "plain", True, id="gpt, recomputed"),
    pytest.param(TODAY, "plain", True, id="today, recomputed"),
]


@pytest.mark.parametrize(("spec", "kernel", "recompute"), CASES)
@pytest.mark.parametrize("keep", [True, False], ids=["accumulating", "one pass"])
def test_a_step_holds_what_was_reckoned(spec: s.Spec, kernel: Kernel, recompute: bool, keep: bool) -> None:
    found = memory(spec, work_of(spec, kernel, recompute))
    expected = found.total if keep else found.peak
    measured = step_bytes(spec, kernel, recompute, keep_gradients=keep)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"reckoned {expected:,}, alive {measured:,} ({expected / measured:.3f}), resident {held:,}")
    # A tenth is promised; the rules are nearer, and a wrong one shows.
    assert expected == pytest.approx(measured, rel=0.06)


@given(decoders())
@settings(max_examples=40)
def test_a_cache_is_as_large_as_it_is_allocated(spec: s.DecoderOnly) -> None:
    pooling = s.pooling_of(spec.head)
    if not isinstance(spec.decoder.input, s.Tokens) or not (pooling is None or isinstance(pooling.take, s.Last)):
        return
    found = kv_cache(spec, Work(3, 20, dtype="bfloat16"))
    cache = StaticCache(spec.decoder, batch=3, capacity=20, dtype=torch.bfloat16)
    allocated = sum(tensor.nbytes for i in range(len(spec.decoder.blocks)) for tensor in cache.layer(i).tensors)
    assert found.whole.value == allocated == cache_bytes(spec.decoder, 3, 20, torch.bfloat16)
    assert found.per_token.value * 60 == found.whole.value


def test_the_caches_that_are_quoted() -> None:
    many, few = (kv_cache(llama_7b(kv_heads), Work(1, 4096, dtype="float16")) for kv_heads in (32, 8))
    assert (many.per_token.value, few.per_token.value) == (524_288, 128 * 2**10)
    assert (many.whole.value, few.whole.value) == (2 * 2**30, 512 * 2**20)


def test_the_scores_that_are_quoted() -> None:
    def scores(length: int) -> int:
        work = Work(1, length, dtype="float16")
        return activations(llama_7b(), work, kernel="plain", recompute=False).scores.value

    assert scores(4096) == 2**30
    assert scores(4096) == 64 * scores(512)


def test_seven_billion_parameters_take_fourteen_gigabytes_and_a_hundred_and_twelve_to_train() -> None:
    count = 7 * 10**9
    assert BYTES["float16"] * count == 14 * 10**9
    for dtype in ("float16", "float32"):
        optimizer = optimizer_state(letter("N", count), ZERO, "adamw", dtype).value
        assert 2 * BYTES[dtype] * count + optimizer == 112 * 10**9


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_adam_takes_sixteen_bytes_a_parameter(dtype: Any) -> None:
    found = memory(llama_7b(), Work(1, 16, dtype=dtype))
    assert found.state == 16 * parameters(llama_7b()).total
    assert found.total == found.state + found.activations.bytes


def test_muon_keeps_one_moment_of_the_blocks_matrices() -> None:
    adam, muon = (memory(GPT, Work(optimizer=optimizer)).optimizer.value for optimizer in ("adamw", "muon"))
    matrices = 3 * (4 * 96 * 96 + 2 * 4 * 96 * 96)
    assert adam - muon == 4 * matrices


def test_the_windows_of_a_cache() -> None:
    wide = TODAY.decoder.blocks[0]
    narrow = replace(wide, attention=replace(wide.attention, visibility=s.Causal(window=16)))
    spec = replace(TODAY, decoder=replace(TODAY.decoder, blocks=(wide, narrow)))
    found = kv_cache(spec, Work(2, 64))
    assert found.within_windows.value == found.whole.value * (64 + 16) // 128


def test_an_encoder_decoder_keeps_its_source_too() -> None:
    found = kv_cache(PAPER, Work(3, 10, 20))
    assert found.memory.value == 3 * 20 * 2 * 64 * 2 * 4
