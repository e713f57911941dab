"""Small specs that together use every choice, each with weights of trained size."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from clearformer.reference.initial import draw
from clearformer.spec import (
    ALiBi,
    Attention,
    Biases,
    Block,
    Causal,
    DecoderOnly,
    Dense,
    DynamicNTK,
    EncoderDecoder,
    EncoderOnly,
    Experts,
    Full,
    Gated,
    Hidden,
    Language,
    LatentAttention,
    LayerNorm,
    Learned,
    LinearScaling,
    Llama3Scaling,
    LongRoPE,
    Parallel,
    QKNorm,
    RelativeBias,
    RMSNorm,
    Rotary,
    RouterGroups,
    Sequential,
    SigmoidRouter,
    Sinusoidal,
    SoftmaxRouter,
    Stack,
    Tokens,
    Transform,
    YaRN,
)

WIDTH, VOCABULARY = 16, 23


def attend(position: Any = None, heads: int = 4, kv_heads: int = 2, **more: Any) -> Attention:
    return Attention(heads, kv_heads, 8, 6, position=position, **more)


def layer(attention: Any = None, feedforward: Any = None, norm: Any = None, **more: Any) -> Block:
    norms = {"attention_norm": norm or RMSNorm(), "feedforward_norm": norm or RMSNorm()}
    return Block(attention or attend(), feedforward or Gated(24), **(norms | more))


def decoder(*blocks: Block, tokens: Tokens | None = None, head: Any = None) -> DecoderOnly:
    stack = Stack(WIDTH, tokens or Tokens(VOCABULARY), blocks, final_norm=RMSNorm())
    return DecoderOnly(stack, head or Language(), context=64)


def _experts(router: Any, **more: Any) -> Experts:
    return Experts(8, 3, Gated(10), router, **more)


def _decoders() -> dict[str, DecoderOnly]:
    latent = LatentAttention(3, 6, 5, 7, Rotary(width=4, layout="interleaved"), query_rank=9, bias=True)
    gemma = RMSNorm(unit_offset=True, scale_first=True)
    bloom = Tokens(VOCABULARY, norm=LayerNorm(), scale=math.sqrt(WIDTH))
    groups = RouterGroups(4, 2, "best_two")
    deepseek = _experts(SigmoidRouter(groups=groups, scale=2.5), shared=Gated(12), shared_gate=True)
    scalings = {
        "linear": LinearScaling(2.0),
        "dynamic": DynamicNTK(4.0, 5),
        "yarn": YaRN(4.0, 16),
        "llama3": Llama3Scaling(8.0, 32),
        "longrope": LongRoPE((1.0, 1.5, 2.0, 3.0), (2.0, 4.0, 6.0, 9.0), 5, 1.2),
    }
    rotary = {name: decoder(*[layer(attend(Rotary(scaling=way)))] * 2) for name, way in scalings.items()}
    local = layer(
        attend(Rotary(), visibility=Causal(window=3), score_cap=5.0), norm=gemma, arrangement=Sequential("sandwich")
    )
    wide = layer(
        attend(Rotary(1e6), qk_norm=QKNorm(gemma)), Gated(24, "gelu_tanh"), gemma, arrangement=Sequential("sandwich")
    )
    return rotary | {
        "gpt2": decoder(
            *[layer(attend(bias=Biases.everywhere()), Dense(24, "gelu"), LayerNorm())] * 2,
            tokens=Tokens(VOCABULARY, Learned(64, offset=2), segments=2),
        ),
        "gemma": decoder(local, wide, head=Language(cap=3.0)),
        "bloom": decoder(*[layer(attend(ALiBi(), heads=6, kv_heads=1), norm=LayerNorm())] * 2, tokens=bloom),
        "neox": decoder(
            *[layer(attend(Rotary(width=4, layout="interleaved")), Dense(24, "quick_gelu"), arrangement=Parallel())] * 2
        ),
        "gptj": decoder(
            *[layer(attend(Rotary(width=4)), arrangement=Parallel(shared_norm=True), feedforward_norm=None)] * 2
        ),
        "t5": decoder(*[layer(attend(RelativeBias(8, 20), scale=1.0))] * 2, head=Language(hidden_scale=0.25)),
        "own-bias": decoder(*[layer(attend(RelativeBias(8, 20, shared=False)))] * 2),
        "olmo2": decoder(
            *[layer(attend(Rotary(), qk_norm=QKNorm(RMSNorm(), "projection")), arrangement=Sequential("branch"))] * 2
        ),
        "deepseek": decoder(layer(latent), layer(dataclasses.replace(latent, query_rank=None), deepseek)),
        "mixtral": decoder(*[layer(attend(Rotary()), _experts(SoftmaxRouter("after")))] * 2),
        "qwen-moe": decoder(layer(None, _experts(SoftmaxRouter("before", normalise=True, groups=RouterGroups(4, 2))))),
        "no-positions": decoder(*[layer(norm=LayerNorm(weight=False, bias=False), attention_norm=None)] * 2),
        "prefix": decoder(*[layer(attend(Rotary(), visibility=Causal(prefix=True)))] * 2),
        "marian": decoder(
            *[layer(norm=LayerNorm(), arrangement=Sequential("post"), feedforward=Dense(24, "silu"))] * 2,
            tokens=Tokens(VOCABULARY, Sinusoidal(layout="halves")),
            head=Language(tied=False, bias=True, transform=Transform(norm=LayerNorm())),
        ),
    }


def _encoders() -> dict[str, EncoderOnly]:
    def encoder(*blocks: Block, tokens: Tokens | None = None, head: Any = None) -> EncoderOnly:
        stack = Stack(WIDTH, tokens or Tokens(VOCABULARY), blocks, final_norm=LayerNorm())
        return EncoderOnly(stack, head or Hidden(), context=64)

    def full(position: Any = None, radius: int | None = None) -> Attention:
        return attend(position, visibility=Full(radius))

    return {
        "bert": encoder(
            *[layer(full(), Dense(24, "gelu"), LayerNorm(), arrangement=Sequential("post"))] * 2,
            tokens=Tokens(VOCABULARY, Learned(64), segments=2, norm=LayerNorm()),
        ),
        "modernbert": encoder(layer(full(Rotary(), 2), attention_norm=None), layer(full(Rotary(1e6)))),
        "t5-encoder": encoder(*[layer(full(RelativeBias(8, 20, two_sided=True)))] * 2),
        "alibi-encoder": encoder(*[layer(full(ALiBi()))] * 2),
    }


def _translators() -> dict[str, EncoderDecoder]:
    def blocks(position: Any, cross: bool, **more: Any) -> tuple[Block, ...]:
        attention = attend(position, visibility=Causal() if cross else Full())
        looking = {"cross_attention": attend(visibility=Full()), "cross_norm": LayerNorm()} if cross else {}
        return (layer(attention, Dense(24), LayerNorm(), **looking, **more),) * 2

    post, sandwich = {"arrangement": Sequential("post")}, {"arrangement": Sequential("sandwich")}
    tokens, plain = Tokens(VOCABULARY, Sinusoidal(), scale=4.0), Tokens(VOCABULARY)
    return {
        "paper": EncoderDecoder(
            Stack(WIDTH, tokens, blocks(None, False, **post)),
            Stack(WIDTH, tokens, blocks(None, True, **post)),
            Language(),
            context=64,
            shared_vocabulary=True,
        ),
        "t5-both": EncoderDecoder(
            Stack(12, plain, blocks(RelativeBias(8, 20, two_sided=True), False)),
            Stack(WIDTH, plain, blocks(RelativeBias(8, 20), True, **sandwich)),
            Language(tied=False),
            context=64,
        ),
    }


DECODERS, ENCODERS, TRANSLATORS = _decoders(), _encoders(), _translators()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for name, specs in (("decoder_spec", DECODERS), ("encoder_spec", ENCODERS), ("translator_spec", TRANSLATORS)):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, specs.values(), ids=list(specs))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def weights_of(rng: np.random.Generator) -> Callable[[Any], dict[str, np.ndarray]]:
    return lambda spec: draw(spec, rng)


@pytest.fixture
def ids(rng: np.random.Generator) -> Callable[..., np.ndarray]:
    return lambda *shape: rng.integers(0, VOCABULARY, shape)


@pytest.fixture
def build() -> Any:
    """The small parts above, for tests that need a spec of their own."""
    return type(
        "Build", (), {"attend": staticmethod(attend), "layer": staticmethod(layer), "decoder": staticmethod(decoder)}
    )


@pytest.fixture
def spec_named() -> Callable[[str], Any]:
    return lambda name: (DECODERS | ENCODERS | TRANSLATORS)[name]
