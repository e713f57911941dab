"""How weights are drawn: each scheme's deviations, biases at zero, norms at the identity, one seed one model."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from transformers import T5Config, T5ForConditionalGeneration

from clearformer import spec as s
from clearformer.build import build
from clearformer.model import Model
from clearformer.spec.presets import modern_decoder, paper, tiny_gpt
from drawing.small import SPECS

WIDTH, LAYERS = 128, 3


def drawn(spec: s.Spec, seed: int = 0) -> Model:
    return build(spec, generator=torch.Generator().manual_seed(seed))


def named(model: Model) -> dict[str, Tensor]:
    return {name: each.detach() for name, each in model.named_parameters()}


def weights(model: Model, *ends: str) -> dict[str, Tensor]:
    found = {name: each for name, each in named(model).items() if name.endswith(ends)}
    assert found
    return found


def require_std(found: dict[str, Tensor], std: float) -> None:
    """Within five standard errors of a normal sample's deviation, and centred."""
    for name, weight in found.items():
        error = std / math.sqrt(2 * weight.numel())
        assert abs(float(weight.std()) - std) <= 5 * error, name
        assert abs(float(weight.mean())) <= 5 * std / math.sqrt(weight.numel()), name


def decoder(initial: s.Initialisation, attention: s.AnyAttention | None = None, **choices: object) -> s.DecoderOnly:
    seen = attention or s.Attention(4, 2, 32, 32)
    block = s.Block(seen, choices.get("feedforward", s.Gated(160)), s.RMSNorm(), s.RMSNorm())
    stack = s.Stack(WIDTH, s.Tokens(300, s.Learned(64)), (block,) * LAYERS, s.RMSNorm(unit_offset=True))
    return s.DecoderOnly(stack, s.Language(), context=64, initial=initial)


@pytest.mark.parametrize("residual_scaled", [True, False])
def test_normal(residual_scaled: bool) -> None:
    """Matrices and tables by std; what writes to the residual stream by std/√(2L), and nothing else."""
    model = drawn(decoder(s.Normal(0.05, residual_scaled)))
    require_std(weights(model, "query.weight", "key.weight", "gate.weight", "up.weight", "token.weight"), 0.05)
    scaled = 0.05 / math.sqrt(2 * LAYERS) if residual_scaled else 0.05
    require_std(weights(model, "attention.output.weight", "feedforward.down.weight"), scaled)


def test_latent_projections_do_not_write_to_the_residual_stream() -> None:
    latent = s.LatentAttention(4, 32, 32, 64, s.Rotary(width=16), query_rank=48)
    model = drawn(decoder(s.Normal(0.05), latent))
    require_std(weights(model, "query_down.weight", "latent_down.weight", "latent_up.weight", "query_up.weight"), 0.05)
    require_std(weights(model, "attention.output.weight"), 0.05 / math.sqrt(2 * LAYERS))


def test_experts_write_to_the_residual_stream() -> None:
    mixture = s.Experts(3, 1, s.Gated(96), s.SigmoidRouter(), shared=s.Dense(96))
    model = drawn(decoder(s.Normal(0.05), feedforward=mixture))
    require_std(weights(model, "experts.2.down.weight", "shared.down.weight"), 0.05 / math.sqrt(2 * LAYERS))
    require_std(weights(model, "router.weight"), 0.05)
    assert all((each == 0).all() for each in weights(model, "selection_bias").values())


@pytest.mark.parametrize("gain", [1.0, 0.5])
def test_xavier(gain: float) -> None:
    """Uniform within ±gain·√(6 / (in + out)); tables by N(0, 1/D)."""
    model = drawn(decoder(s.Xavier(gain)))
    for name, weight in weights(model, "query.weight", "output.weight", "up.weight", "down.weight").items():
        limit = gain * math.sqrt(6 / sum(weight.shape))
        assert 0.99 * limit <= float(weight.abs().max()) <= limit, name
        require_std({name: weight}, limit / math.sqrt(3))
    require_std(weights(model, "token.weight", "position.weight"), WIDTH**-0.5)


@pytest.mark.parametrize("factor", [1.0, 0.3])
def test_t5_draws_as_transformers_does(factor: float) -> None:
    """Deviations side by side with a T5 of the same sizes."""
    config = T5Config(
        vocab_size=300,
        d_model=WIDTH,
        d_kv=48,
        d_ff=160,
        num_layers=2,
        num_heads=4,
        initializer_factor=factor,
        relative_attention_num_buckets=256,
    )
    torch.manual_seed(0)
    theirs = dict(T5ForConditionalGeneration(config).named_parameters())
    position = s.RelativeBias(256, 1024, two_sided=True)
    attention = s.Attention(4, 4, 48, 48, s.Full(), position, scale=1.0)
    block = s.Block(attention, s.Dense(160, bias=False), s.RMSNorm(), s.RMSNorm())
    stack = s.Stack(WIDTH, s.Tokens(300), (block,) * 2, s.RMSNorm())
    ours = named(drawn(s.EncoderOnly(stack, s.Hidden(), context=64, initial=s.T5Init(factor))))
    layer = "encoder.block.0.layer"
    for name, original in {
        "embed.token.weight": "shared.weight",
        "blocks.0.attention.query.weight": f"{layer}.0.SelfAttention.q.weight",
        "blocks.0.attention.key.weight": f"{layer}.0.SelfAttention.k.weight",
        "blocks.0.attention.value.weight": f"{layer}.0.SelfAttention.v.weight",
        "blocks.0.attention.output.weight": f"{layer}.0.SelfAttention.o.weight",
        "blocks.0.attention.relative.weight": f"{layer}.0.SelfAttention.relative_attention_bias.weight",
        "blocks.0.feedforward.up.weight": f"{layer}.1.DenseReluDense.wi.weight",
        "blocks.0.feedforward.down.weight": f"{layer}.1.DenseReluDense.wo.weight",
    }.items():
        found, expected = (float(each.detach().std()) for each in (ours[f"encoder.{name}"], theirs[original]))
        assert found == pytest.approx(expected, rel=0.12), name


@pytest.mark.parametrize("name", SPECS)
def test_biases_start_at_zero_and_norms_at_the_identity(name: str) -> None:
    spec = SPECS[name]
    for parameter, weight in named(drawn(spec)).items():
        if parameter == "scale":
            assert float(weight) == pytest.approx(spec.initial_scale)
        elif parameter.endswith("bias"):
            assert (weight == 0).all(), parameter
        elif parameter.endswith("norm.weight") or "normalise" in parameter:
            assert (weight == 1).all(), parameter
        else:
            assert weight.std() > 0, parameter


def test_a_norm_with_unit_offset_starts_at_zero() -> None:
    (weight,) = weights(drawn(decoder(s.Normal())), "final_norm.weight").values()
    assert (weight == 0).all()


@pytest.mark.parametrize(
    "spec",
    [paper(width=32, heads=2, hidden=48, layers=1, vocabulary=40), tiny_gpt(layers=1), SPECS["two-towers"]],
    ids=["paper", "gpt", "towers"],
)
def test_one_seed_is_one_model(spec: s.Spec) -> None:
    first, again, other = (named(drawn(spec, seed)) for seed in (1, 1, 2))
    assert all(torch.equal(first[name], again[name]) for name in first)
    matrices = [name for name, weight in first.items() if weight.dim() == 2]
    assert not any(torch.equal(first[name], other[name]) for name in matrices)


def test_no_seed_of_the_process_is_used_or_moved() -> None:
    torch.manual_seed(0)
    expected = torch.rand(1)
    torch.manual_seed(0)
    drawn(modern_decoder(width=32, heads=2, kv_heads=1, hidden=48, layers=1, vocabulary=40))
    assert torch.equal(torch.rand(1), expected)
