"""One small spec of each architecture, chosen by hand so that together they use most parts, and inputs for each."""

from __future__ import annotations

import numpy as np

from clearformer import spec as s

V, D = 11, 8
Arrays = tuple[np.ndarray, ...]


def block(visibility: s.Visibility, **choices: object) -> s.Block:
    plain = {
        "attention": s.Attention(4, 2, 4, 3, visibility, s.Rotary(), s.Biases.everywhere()),
        "feedforward": s.Gated(10),
        "attention_norm": s.RMSNorm(1e-3),
        "feedforward_norm": s.RMSNorm(1e-3),
    }
    return s.Block(**{**plain, **choices})


def decoder(*blocks: s.Block, head: s.Language | None = None) -> s.DecoderOnly:
    stack = s.Stack(D, s.Tokens(V), blocks, s.LayerNorm(1e-3))
    return s.DecoderOnly(stack, head or s.Language(tied=True), context=16)


def experts(router: s.Router) -> s.Experts:
    return s.Experts(4, 2, s.Gated(6), router, shared=s.Dense(6, "gelu"), shared_gate=True)


def translator() -> s.EncoderDecoder:
    def attend(visibility: s.Visibility, position: s.AttentionPosition | None = None) -> s.Attention:
        return s.Attention(2, 2, 4, 4, visibility, position, s.Biases.everywhere())

    two_sided = s.RelativeBias(8, 16, two_sided=True)
    source = block(s.Full(), attention=attend(s.Full(), two_sided), feedforward=s.Dense(10, "gelu_tanh"))
    target = block(
        s.Causal(),
        attention=attend(s.Causal(), s.ALiBi()),
        cross_attention=attend(s.Full()),
        cross_norm=s.LayerNorm(1e-3),
        arrangement=s.Sequential("post"),
    )
    tokens = s.Tokens(V, s.Sinusoidal(), scale=2.0)
    encoder, decoder = s.Stack(D, tokens, (source,) * 2), s.Stack(D, tokens, (target,))
    return s.EncoderDecoder(encoder, decoder, s.Language(bias=True), context=16, shared_vocabulary=True)


def bert() -> s.EncoderOnly:
    tokens = s.Tokens(V, s.Learned(16), segments=2, norm=s.LayerNorm(1e-3))
    layer = block(s.Full(radius=2), arrangement=s.Sequential("sandwich"), feedforward=s.Dense(10, "quick_gelu"))
    head = s.Language(tied=True, bias=True, transform=s.Transform("gelu", s.LayerNorm(1e-3)), cap=5.0)
    return s.EncoderOnly(s.Stack(D, tokens, (layer,)), head, context=16)


def classifier() -> s.EncoderOnly:
    image = s.Patches(4, 4, 2, channels=2, position=s.Learned(5))
    head = s.Classes(3, s.Pooling(s.First(), s.Transform("tanh")))
    return s.EncoderOnly(s.Stack(D, image, (block(s.Full()),)), head, context=16)


def forecaster() -> s.EncoderOnly:
    series = s.Series(2, patch=3, stride=3, normalise=s.ReversibleNorm(affine=True), independent=True)
    layer = block(s.Full(), arrangement=s.Parallel())
    return s.EncoderOnly(s.Stack(D, series, (layer,)), s.Forecast(2, s.Pooling(s.Flatten(3))), context=16)


def towers() -> s.TwoTowers:
    stack = s.Stack(D, s.Tokens(V), (block(s.Causal()),))
    text = s.DecoderOnly(stack, s.Vector(s.Pooling(s.Last()), 5), context=16)
    image = s.Stack(D, s.Patches(4, 4, 2), (block(s.Full()),))
    return s.TwoTowers(text, s.EncoderOnly(image, s.Vector(s.Pooling(s.Mean()), 5), context=16), initial_scale=1.0)


HEAD_NORM = s.QKNorm(s.RMSNorm(1e-3))
LATENT = s.LatentAttention(2, 4, 3, 5, s.Rotary(width=2), query_rank=4, bias=True)
SPECS: dict[str, s.Spec] = {
    "decoder": decoder(block(s.Causal()), block(s.Causal(window=3))),
    "decoder-qk-norm-cap": decoder(
        block(s.Causal(), attention=s.Attention(2, 1, 4, 4, position=s.Rotary(), qk_norm=HEAD_NORM, score_cap=2.0)),
        head=s.Language(tied=False),
    ),
    "decoder-softmax-experts": decoder(block(s.Causal(), feedforward=experts(s.SoftmaxRouter(normalise=True)))),
    "decoder-sigmoid-experts": decoder(block(s.Causal(), feedforward=experts(s.SigmoidRouter()))),
    "decoder-latent": decoder(block(s.Causal(), attention=LATENT)),
    "encoder": bert(),
    "encoder-decoder": translator(),
    "image": classifier(),
    "series": forecaster(),
    "two-towers": towers(),
}


def inputs(spec: s.Spec, rng: np.random.Generator) -> Arrays:
    def one(source: s.Input) -> np.ndarray:
        match source:
            case s.Tokens():
                return rng.integers(0, V, (2, 6))
            case s.Patches():
                return rng.standard_normal((2, source.channels, source.height, source.width))
            case s.Series():
                return rng.standard_normal((2, 9, source.channels))

    match spec:
        case s.EncoderDecoder():
            return one(spec.encoder.input), one(spec.decoder.input)
        case s.TwoTowers():
            return one(s.main_stack(spec.text).input), one(spec.image.encoder.input)
        case _:
            return (one(s.main_stack(spec).input),)
