"""hypothesis draws whole models of every architecture, input and head."""

from __future__ import annotations

from hypothesis import strategies as st

from clearformer import spec as s
from drawing.blocks import activations, booleans, norms, stacks

VOCABULARY = 13
CONTEXT = 24
STEPS = 11

input_positions = st.one_of(
    st.none(),
    st.builds(s.Sinusoidal, st.just(10000.0), st.sampled_from(("interleaved", "halves"))),
    st.builds(s.Learned, st.just(CONTEXT), st.sampled_from((0, 2))),
)
tokens = st.builds(
    s.Tokens,
    st.just(VOCABULARY),
    input_positions,
    st.sampled_from((1.0, 3.0)),
    st.sampled_from((0, 2)),
    st.one_of(st.none(), norms),
    round_scale=booleans,
)
images = st.builds(
    s.Patches,
    st.just(4),
    st.just(6),
    st.just(2),
    st.sampled_from((1, 3)),
    booleans,
    input_positions,
    booleans,
    st.one_of(st.none(), norms),
)
reversible = st.one_of(st.none(), st.builds(s.ReversibleNorm, st.just(1e-5), booleans))
initials = st.one_of(
    st.builds(s.Normal, st.just(0.02), booleans), st.builds(s.Xavier), st.builds(s.T5Init, st.sampled_from((1.0, 0.5)))
)
transforms = st.builds(s.Transform, activations, st.one_of(st.none(), norms), booleans)
language = st.builds(
    s.Language,
    booleans,
    booleans,
    st.sampled_from((1.0, 0.3)),
    st.sampled_from((None, 3.0)),
    st.one_of(st.none(), transforms),
)


def poolings(*takes: s.Take) -> st.SearchStrategy[s.Pooling]:
    maybe = st.one_of(st.none(), transforms)
    return st.sampled_from(takes).flatmap(
        lambda take: st.builds(s.Pooling, st.just(take), st.none() if isinstance(take, s.Flatten) else maybe)
    )


def answers(pooling: st.SearchStrategy[s.Pooling]) -> st.SearchStrategy[s.Head]:
    return st.one_of(
        st.builds(s.Classes, st.just(3), pooling, booleans),
        st.builds(s.Regression, st.just(2), pooling, booleans),
        st.builds(s.Vector, pooling, st.sampled_from((None, 5)), booleans),
    )


token_heads = st.one_of(
    language,
    language,
    st.just(s.Hidden()),
    answers(poolings(s.First(), s.Mean(), s.Last(), s.EndToken(VOCABULARY - 1))),
)


@st.composite
def series(draw: st.DrawFn, normalise: s.ReversibleNorm | None, independent: bool) -> s.Series:
    patch = draw(st.sampled_from((1, 4)))
    return s.Series(
        channels=draw(st.sampled_from((1, 2))),
        patch=patch,
        stride=draw(st.sampled_from((1, patch))),
        position=draw(input_positions),
        normalise=normalise,
        independent=independent,
        bias=draw(booleans),
    )


@st.composite
def decoders(draw: st.DrawFn) -> s.DecoderOnly:
    stack = draw(stacks(draw(tokens), causal=True))
    return s.DecoderOnly(stack, draw(token_heads), CONTEXT, draw(initials))


@st.composite
def token_encoders(draw: st.DrawFn) -> s.EncoderOnly:
    stack = draw(stacks(draw(tokens), causal=False))
    return s.EncoderOnly(stack, draw(token_heads), CONTEXT, draw(initials))


@st.composite
def image_encoders(draw: st.DrawFn, width: int = 0) -> s.EncoderOnly:
    source = draw(images)
    takes: list[s.Take] = [s.Mean(), s.Flatten(source.length)] + ([s.First()] if source.class_token else [])
    pooling = poolings(*takes)
    head = answers(pooling) if not width else st.builds(s.Vector, pooling, st.just(width), booleans)
    return s.EncoderOnly(draw(stacks(source, causal=False)), draw(head), CONTEXT, draw(initials))


@st.composite
def forecasters(draw: st.DrawFn) -> s.EncoderOnly | s.DecoderOnly:
    source = draw(series(draw(reversible), draw(booleans)))
    pooling = draw(poolings(s.Last(), s.Mean(), s.Flatten(source.length(STEPS))))
    head = s.Forecast(horizon=3, pooling=pooling)
    if draw(booleans):
        return s.DecoderOnly(draw(stacks(source, causal=True)), head, CONTEXT, draw(initials))
    return s.EncoderOnly(draw(stacks(source, causal=False)), head, CONTEXT, draw(initials))


@st.composite
def encoder_decoders(draw: st.DrawFn) -> s.EncoderDecoder:
    shared = draw(booleans)
    source = draw(tokens if shared else st.one_of(tokens, tokens, images, series(None, False)))
    encoder = draw(stacks(source, causal=False))
    decoder = draw(stacks(draw(tokens), causal=True, cross=True, width=encoder.width if shared else 0))
    return s.EncoderDecoder(encoder, decoder, draw(language), CONTEXT, shared, draw(initials))


@st.composite
def two_towers(draw: st.DrawFn) -> s.TwoTowers:
    head = s.Vector(draw(poolings(s.EndToken(VOCABULARY - 1), s.Mean())), 5, draw(booleans))
    text = s.DecoderOnly(draw(stacks(draw(tokens), causal=True)), head, CONTEXT)
    return s.TwoTowers(text, draw(image_encoders(width=5)), draw(st.sampled_from((0.0, 1.5))))


any_spec: st.SearchStrategy[s.Spec] = st.one_of(
    decoders(), decoders(), token_encoders(), image_encoders(), forecasters(), encoder_decoders(), two_towers()
)
