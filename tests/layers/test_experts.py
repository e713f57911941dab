"""Mixtures of experts against loops over tokens, and routers against Mixtral's, Qwen2-MoE's and DeepSeek-V3's."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor
from transformers import DeepseekV3Config, MixtralConfig, Qwen2MoeConfig
from transformers.models.deepseek_v3.modeling_deepseek_v3 import DeepseekV3TopkRouter
from transformers.models.mixtral.modeling_mixtral import MixtralTopKRouter, load_balancing_loss_func
from transformers.models.qwen2_moe.modeling_qwen2_moe import Qwen2MoeTopKRouter

from clearformer import spec as s
from clearformer.layers.experts import Experts, balance, route
from clearformer.layers.frame import Frame
from clearformer.model import DecoderOnly
from drawing.built import drawn

WIDTH, COUNT, TOKENS = 8, 8, 50
F64 = torch.float64
ROUTERS: tuple[s.Router, ...] = (
    s.SoftmaxRouter("before"),
    s.SoftmaxRouter("before", normalise=True, scale=2.5),
    s.SoftmaxRouter("after"),
    s.SoftmaxRouter("before", groups=s.RouterGroups(4, 2)),
    s.SigmoidRouter(),
    s.SigmoidRouter(normalise=False, scale=1.5, groups=s.RouterGroups(2, 1, "best_two")),
)


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=F64)


def by_hand(logits: Tensor, spec: s.Router, active: int, bias: Tensor | None) -> dict[int, float]:
    """One token's experts and their weights, from the definitions in `spec.feedforward`."""
    numbers = logits.tolist()
    powers = [2.718281828459045**number for number in numbers]
    if isinstance(spec, s.SigmoidRouter):
        worth = [power / (1 + power) for power in powers]
        liked = [w + (0.0 if bias is None else float(bias[e])) for e, w in enumerate(worth)]
    else:
        worth = liked = [power / sum(powers) for power in powers]
    allowed = set(range(len(numbers)))
    if spec.groups is not None:
        size = len(numbers) // spec.groups.count
        counted = 1 if spec.groups.judged_by == "best" else 2
        groups = [range(g * size, (g + 1) * size) for g in range(spec.groups.count)]
        judged = [sum(sorted((liked[e] for e in group), reverse=True)[:counted]) for group in groups]
        best = sorted(range(len(groups)), key=lambda g: -judged[g])[: spec.groups.kept]
        allowed = {e for g in best for e in groups[g]}
    chosen = sorted(allowed, key=lambda e: -liked[e])[:active]
    if isinstance(spec, s.SoftmaxRouter) and spec.softmax == "after":
        weights = [powers[e] / sum(powers[c] for c in chosen) for e in chosen]
    else:
        weights = [worth[e] for e in chosen]
    total = sum(weights) if spec.normalise else 1.0
    return {e: spec.scale * w / total for e, w in zip(chosen, weights, strict=True)}


@pytest.mark.parametrize(("spec", "active"), list(itertools.product(ROUTERS, (1, 3))), ids=str)
def test_routes_equal_the_definition(spec: s.Router, active: int) -> None:
    logits, bias = random(TOKENS, COUNT) * 2, random(COUNT, seed=1) * 0.3
    biased = bias if isinstance(spec, s.SigmoidRouter) else None
    weights, chosen, _ = route(logits, spec, active, biased)
    for token in range(TOKENS):
        found = dict(zip(chosen[token].tolist(), weights[token].tolist(), strict=True))
        assert found == pytest.approx(by_hand(logits[token], spec, active, biased), rel=1e-9)


@pytest.mark.parametrize("router", ROUTERS, ids=str)
def test_a_mixture_is_the_weighted_sum_of_its_experts(router: s.Router) -> None:
    spec = s.Experts(COUNT, 3, s.Gated(6), router, shared=s.Dense(5, "gelu"), shared_gate=True)
    block = s.Block(s.Attention(2, 2, 4, 4), spec, s.RMSNorm(), s.RMSNorm())
    model = drawn(s.DecoderOnly(s.Stack(WIDTH, s.Tokens(9), (block,)), s.Language(), context=8), 3)
    assert isinstance(model, DecoderOnly)
    layer = model.decoder.blocks[0].feedforward
    x = random(2, 5, WIDTH)
    with torch.no_grad():
        found = layer(x, some_frame())
        for b, t in itertools.product(range(2), range(5)):
            token = x[b, t]
            logits = layer.router.weight @ token
            expected = layer.shared(token, some_frame()) * torch.sigmoid(layer.shared_gate.weight @ token)
            for index, weight in by_hand(logits, router, 3, layer.router.selection_bias).items():
                expected = expected + weight * layer.experts[index](token, some_frame())
            torch.testing.assert_close(found[b, t], expected, rtol=0, atol=1e-10)


def some_frame(losses: list[Tensor] | None = None, real: Tensor | None = None) -> Frame:
    slots = torch.arange(5)[None]
    return Frame(slots, slots, None, True, torch.tensor([5]), F64, losses=losses, query_real=real)


SIZES = {"hidden_size": WIDTH, "num_experts_per_tok": 3}
V3_SIZES = {"n_routed_experts": COUNT, "n_group": 4, "topk_group": 2, "routed_scaling_factor": 2.5}
ORIGINALS = {
    "mixtral": (MixtralTopKRouter, MixtralConfig(num_local_experts=COUNT, **SIZES), s.SoftmaxRouter("after")),
    "qwen": (Qwen2MoeTopKRouter, Qwen2MoeConfig(num_experts=COUNT, norm_topk_prob=False, **SIZES), s.SoftmaxRouter()),
    "qwen-normalised": (
        Qwen2MoeTopKRouter,
        Qwen2MoeConfig(num_experts=COUNT, norm_topk_prob=True, **SIZES),
        s.SoftmaxRouter(normalise=True),
    ),
    "deepseek-v3": (
        DeepseekV3TopkRouter,
        DeepseekV3Config(norm_topk_prob=True, **V3_SIZES, **SIZES),
        s.SigmoidRouter(scale=2.5, groups=s.RouterGroups(4, 2, "best_two")),
    ),
}


@pytest.mark.parametrize("name", ORIGINALS)
def test_routes_equal_the_originals(name: str) -> None:
    make, config, spec = ORIGINALS[name]
    original, tokens = make(config).float(), random(TOKENS, WIDTH).float()
    bias = None
    with torch.no_grad():
        original.weight.copy_(random(COUNT, WIDTH, seed=2))
        if isinstance(spec, s.SigmoidRouter):
            bias = random(COUNT, seed=3).float() * 0.2
            original.e_score_correction_bias.copy_(bias)
        _, weights, chosen = original(tokens)
        ours, our_choice, _ = route(tokens @ original.weight.T, spec, 3, bias)
    spread, expected = (
        torch.zeros(TOKENS, COUNT).scatter(1, *each) for each in ((our_choice, ours), (chosen, weights))
    )
    torch.testing.assert_close(spread, expected, rtol=1e-5, atol=1e-6)


def test_the_balance_loss_is_one_when_even_and_the_count_when_all_choose_one() -> None:
    even = torch.full((COUNT, COUNT), 1 / COUNT, dtype=F64)
    assert float(balance(even, torch.arange(COUNT)[:, None])) == pytest.approx(1.0)
    pairs = torch.stack((torch.arange(COUNT), (torch.arange(COUNT) + 1) % COUNT), 1)
    assert float(balance(even, pairs)) == pytest.approx(1.0)
    one = torch.zeros(TOKENS, COUNT, dtype=F64)
    one[:, 2] = 1
    assert float(balance(one, torch.full((TOKENS, 1), 2))) == pytest.approx(COUNT)


def test_the_balance_loss_is_the_published_one_a_choice() -> None:
    """transformers counts a token once for each expert that it chooses; ours is its mean over the choices."""
    logits, active = random(TOKENS, COUNT).float(), 3
    _, chosen, probabilities = route(logits, s.SoftmaxRouter(), active)
    theirs = load_balancing_loss_func((logits,), COUNT, active)
    torch.testing.assert_close(balance(probabilities, chosen) * active, theirs, rtol=1e-5, atol=1e-6)


def test_balance_losses_are_collected_weighted_and_without_pads() -> None:
    spec = s.Experts(COUNT, 2, s.Gated(6), s.SoftmaxRouter(), balance_loss=0.1)
    layer = Experts(WIDTH, spec).to(F64)
    torch.nn.init.normal_(layer.router.weight, generator=torch.Generator().manual_seed(4))
    x = random(2, 5, WIDTH)
    real = torch.tensor([[True] * 5, [True, True, False, False, False]])
    losses: list[Tensor] = []
    layer(x, some_frame(losses, real))
    _, chosen, probabilities = route(layer.router(x[real]), spec.router, 2)
    torch.testing.assert_close(losses[0], 0.1 * balance(probabilities, chosen))
    losses[0].backward()
    assert layer.router.weight.grad.abs().max() > 0


def test_compiled_code_and_eager_code_mix_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = Experts(WIDTH, s.Experts(COUNT, 2, s.Gated(6), s.SoftmaxRouter())).to(F64)
    x = random(2, 5, WIDTH)
    eager = layer(x, some_frame())
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    torch.testing.assert_close(layer(x, some_frame()), eager, rtol=0, atol=1e-12)


def test_weights_that_all_round_to_zero_stay_finite() -> None:
    """A sigmoid far below zero is 0 in any number type, and 0/0 is no weight."""
    weights, _, _ = route(torch.full((1, 4), -1e4), s.SigmoidRouter(selection_bias=False, normalise=True), 2)
    assert torch.equal(weights, torch.zeros(1, 2))


def test_sigmoids_that_all_round_to_one_keep_the_order_of_the_logits() -> None:
    """From 17 on float32's sigmoid is one; the definition, in float64, tells such experts apart."""
    logits = torch.tensor([[22.0, 26.0, 24.0, 19.0]])
    _, chosen, _ = route(logits, s.SigmoidRouter(selection_bias=False), 2)
    assert chosen.tolist() == [[1, 2]]
