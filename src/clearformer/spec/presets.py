"""Named specs: the paper's two models, a small GPT, and today's decoder."""

from __future__ import annotations

import math
from collections.abc import Callable

from clearformer.errors import UsageError
from clearformer.messages import did_you_mean
from clearformer.messages import spec as messages
from clearformer.spec.attention import Attention, Biases, Causal, Full, split_width
from clearformer.spec.block import Block, Sequential
from clearformer.spec.feedforward import Dense, Gated
from clearformer.spec.heads import Language
from clearformer.spec.initialisation import Normal, Xavier
from clearformer.spec.inputs import Tokens
from clearformer.spec.model import DecoderOnly, EncoderDecoder, Spec, Stack
from clearformer.spec.norms import LayerNorm, RMSNorm
from clearformer.spec.positions import Learned, Rotary, Sinusoidal


def paper(
    *,
    width: int = 512,
    heads: int = 8,
    hidden: int = 2048,
    layers: int = 6,
    vocabulary: int = 37000,
    context: int = 1024,
    dropout: float = 0.1,
) -> EncoderDecoder:
    """The Transformer of 2017 (Vaswani et al., Table 3, arXiv 1706.03762): post-norm, ReLU, sinusoids, one table.

    Its projections carry no bias in the paper's formulas; the feed-forward network does.
    """
    key_width = split_width(width, heads)

    def attention(*, causal: bool) -> Attention:
        visibility = Causal() if causal else Full()
        return Attention(heads, heads, key_width, key_width, visibility=visibility, dropout=dropout)

    def block(*, decodes: bool) -> Block:
        return Block(
            attention=attention(causal=decodes),
            feedforward=Dense(hidden, "relu"),
            attention_norm=LayerNorm(),
            feedforward_norm=LayerNorm(),
            cross_attention=attention(causal=False) if decodes else None,
            cross_norm=LayerNorm() if decodes else None,
            arrangement=Sequential("post"),
            dropout=dropout,
        )

    tokens = Tokens(vocabulary, Sinusoidal(), scale=math.sqrt(width), dropout=dropout)
    return EncoderDecoder(
        encoder=Stack(width, tokens, (block(decodes=False),) * layers),
        decoder=Stack(width, tokens, (block(decodes=True),) * layers),
        head=Language(tied=True),
        context=context,
        shared_vocabulary=True,
        initial=Xavier(),
    )


def transformer_base() -> EncoderDecoder:
    """The paper's base model: 6 + 6 layers, 512 wide."""
    return paper()


def transformer_big() -> EncoderDecoder:
    """The paper's big model: 6 + 6 layers, 1024 wide, dropout 0.3 (English–German)."""
    return paper(width=1024, heads=16, hidden=4096, dropout=0.3)


def tiny_gpt(
    *,
    width: int = 128,
    heads: int = 4,
    layers: int = 4,
    vocabulary: int = 256,
    context: int = 256,
    dropout: float = 0.0,
) -> DecoderOnly:
    """GPT-2's design made small: pre-norm, GELU, learned positions, tied head."""
    key_width = split_width(width, heads)
    block = Block(
        attention=Attention(heads, heads, key_width, key_width, bias=Biases.everywhere(), dropout=dropout),
        feedforward=Dense(4 * width, "gelu_tanh"),
        attention_norm=LayerNorm(),
        feedforward_norm=LayerNorm(),
        dropout=dropout,
    )
    tokens = Tokens(vocabulary, Learned(context), dropout=dropout)
    return DecoderOnly(
        decoder=Stack(width, tokens, (block,) * layers, final_norm=LayerNorm()),
        head=Language(tied=True),
        context=context,
        initial=Normal(0.02, residual_scaled=True),
    )


def modern_decoder(
    *,
    width: int = 576,
    heads: int = 9,
    kv_heads: int = 3,
    hidden: int = 1536,
    layers: int = 30,
    vocabulary: int = 49152,
    context: int = 8192,
    rope_base: float = 100000.0,
) -> DecoderOnly:
    """Today's decoder: pre-norm RMSNorm, rotary positions, grouped queries, SwiGLU. The defaults are SmolLM2-135M's."""
    key_width = split_width(width, heads)
    block = Block(
        attention=Attention(heads, kv_heads, key_width, key_width, position=Rotary(rope_base)),
        feedforward=Gated(hidden, "silu"),
        attention_norm=RMSNorm(1e-5),
        feedforward_norm=RMSNorm(1e-5),
    )
    return DecoderOnly(
        decoder=Stack(width, Tokens(vocabulary), (block,) * layers, final_norm=RMSNorm(1e-5)),
        head=Language(tied=True),
        context=context,
        initial=Normal(0.02, residual_scaled=True),
    )


PRESETS: dict[str, Callable[[], Spec]] = {
    "transformer-base": transformer_base,
    "transformer-big": transformer_big,
    "tiny-gpt": tiny_gpt,
    "modern-decoder": modern_decoder,
}


def preset(name: str) -> Spec:
    """The named spec, at its published size."""
    if name not in PRESETS:
        hint = did_you_mean(name, PRESETS)
        raise UsageError(messages.UNKNOWN_PRESET, found=name, expected=", ".join(PRESETS), hint=hint)
    return PRESETS[name]()
