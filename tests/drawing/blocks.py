"""hypothesis draws layers: every type and every literal of `spec`, small enough to compute in milliseconds."""

from __future__ import annotations

from hypothesis import strategies as st

from clearformer import spec as s

WIDTHS = (8, 12)

booleans = st.booleans()
activations = st.sampled_from(("relu", "gelu", "gelu_tanh", "quick_gelu", "silu", "tanh"))
norms = st.one_of(
    st.builds(s.LayerNorm, st.sampled_from((1e-5, 1e-3)), booleans, booleans),
    st.builds(s.RMSNorm, st.sampled_from((1e-6, 1e-3)), booleans, booleans),
)


@st.composite
def rotaries(draw: st.DrawFn, head_width: int, *, explicit: bool = False) -> s.Rotary:
    even = head_width - head_width % 2
    width = draw(st.sampled_from([even] if explicit else [None, 2, even])) if head_width % 2 == 0 else even
    rotated = head_width if width is None else width
    factors = st.tuples(*[st.sampled_from((1.0, 1.5, 4.0))] * (rotated // 2))
    length = st.sampled_from((4, 16))
    factor = st.sampled_from((1.5, 2.0, 8.0))
    scaling = draw(
        st.one_of(
            st.none(),
            st.builds(s.LinearScaling, factor),
            st.builds(s.DynamicNTK, factor, length),
            st.builds(s.YaRN, factor, length, truncate=booleans, attention_factor=st.sampled_from((None, 1.1))),
            st.builds(s.Llama3Scaling, factor, length),
            st.builds(s.LongRoPE, factors, factors, length, st.sampled_from((1.0, 1.2))),
        )
    )
    return s.Rotary(
        base=draw(st.sampled_from((100.0, 10000.0))),
        width=width,
        layout=draw(st.sampled_from(("halves", "interleaved"))),
        scaling=scaling,
    )


@st.composite
def attentions(
    draw: st.DrawFn,
    visibility: s.Visibility,
    *,
    positions: bool,
    relative: s.RelativeBias | None = None,
    heads: int = 0,
) -> s.Attention:
    kv_heads = draw(st.sampled_from((1, 2)))
    query_heads = heads or kv_heads * draw(st.sampled_from((1, 2, 3)))
    kv_heads = kv_heads if query_heads % kv_heads == 0 else 1
    key_width = draw(st.sampled_from((4, 6)))
    position: s.AttentionPosition | None = None
    if relative is not None:
        position = relative
    elif positions:
        position = draw(st.one_of(st.none(), rotaries(key_width), rotaries(key_width), st.builds(s.ALiBi)))
    return s.Attention(
        heads=query_heads,
        kv_heads=kv_heads,
        key_width=key_width,
        value_width=draw(st.sampled_from((4, 5))),
        visibility=visibility,
        position=position,
        bias=draw(st.builds(s.Biases, booleans, booleans, booleans, booleans)),
        qk_norm=draw(st.one_of(st.none(), st.builds(s.QKNorm, norms, st.sampled_from(("head", "projection"))))),
        scale=draw(st.sampled_from((None, 1.0, 0.3))),
        score_cap=draw(st.sampled_from((None, None, 2.0))),
    )


@st.composite
def latent_attentions(draw: st.DrawFn, visibility: s.Causal) -> s.LatentAttention:
    return s.LatentAttention(
        heads=draw(st.sampled_from((1, 3))),
        key_width=draw(st.sampled_from((3, 4))),
        value_width=draw(st.sampled_from((4, 5))),
        kv_rank=draw(st.sampled_from((4, 6))),
        rotary=draw(rotaries(draw(st.sampled_from((2, 4))), explicit=True)),
        query_rank=draw(st.sampled_from((None, 5))),
        norm=draw(norms),
        visibility=visibility,
        bias=draw(booleans),
        scale=draw(st.sampled_from((None, 0.4))),
    )


experts = st.one_of(
    st.builds(s.Dense, st.sampled_from((6, 16)), activations, booleans),
    st.builds(s.Gated, st.sampled_from((6, 16)), activations, booleans),
)


@st.composite
def mixtures(draw: st.DrawFn) -> s.Experts:
    groups = draw(st.sampled_from((None, s.RouterGroups(2, 1, "best"), s.RouterGroups(2, 2, "best_two"))))
    scale = st.sampled_from((1.0, 2.5))
    router = draw(
        st.one_of(
            st.builds(s.SoftmaxRouter, st.sampled_from(("before", "after")), booleans, scale, st.just(groups)),
            st.builds(s.SigmoidRouter, booleans, booleans, scale, st.just(groups)),
        )
    )
    shared = draw(st.one_of(st.none(), experts))
    return s.Experts(
        count=4,
        active=draw(st.sampled_from((1, 2))),
        expert=draw(experts),
        router=router,
        shared=shared,
        shared_gate=shared is not None and draw(booleans),
        balance_loss=draw(st.sampled_from((0.0, 0.01))),
    )


@st.composite
def blocks(
    draw: st.DrawFn,
    visibility: s.Visibility,
    *,
    cross: bool,
    relative: s.RelativeBias | None = None,
    heads: int = 0,
) -> s.Block:
    attention: s.AnyAttention
    if isinstance(visibility, s.Causal) and relative is None and draw(st.integers(0, 4)) == 0:
        attention = draw(latent_attentions(visibility))
    else:
        attention = draw(attentions(visibility, positions=True, relative=relative, heads=heads))
    placements = st.sampled_from(("pre", "post", "branch", "sandwich"))
    arrangement: s.Arrangement = s.Sequential(draw(placements))
    if not cross and draw(st.integers(0, 3)) == 0:
        arrangement = s.Parallel(shared_norm=draw(booleans))
    norm = draw(norms)
    maybe = st.one_of(st.just(norm), st.just(norm), st.none())
    shared = isinstance(arrangement, s.Parallel) and arrangement.shared_norm
    return s.Block(
        attention=attention,
        feedforward=draw(st.one_of(experts, experts, mixtures())),
        attention_norm=norm if shared else draw(maybe),
        feedforward_norm=None if shared else draw(maybe),
        cross_attention=draw(attentions(s.Full(), positions=False)) if cross else None,
        cross_norm=draw(maybe) if cross else None,
        arrangement=arrangement,
    )


@st.composite
def stacks(draw: st.DrawFn, source: s.Input, *, causal: bool, cross: bool = False, width: int = 0) -> s.Stack:
    width = width or draw(st.sampled_from(WIDTHS))
    relative = draw(
        st.one_of(
            st.none(), st.none(), st.builds(s.RelativeBias, st.sampled_from((8, 12)), st.just(9), booleans, booleans)
        )
    )
    heads = draw(st.sampled_from((2, 4))) if relative else 0
    if causal:
        seen = st.builds(s.Causal, st.sampled_from((None, None, 3)), booleans)
    else:
        seen = st.builds(s.Full, st.sampled_from((None, None, 2)))
    count = draw(st.integers(1, 3))
    return s.Stack(
        width=width,
        input=source,
        blocks=tuple(draw(blocks(draw(seen), cross=cross, relative=relative, heads=heads)) for _ in range(count)),
        final_norm=draw(st.one_of(st.none(), norms)),
    )
