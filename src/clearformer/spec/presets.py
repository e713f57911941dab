"""Named specs: the paper's two models, a small GPT, today's decoder, BERT, and its likes for images and series."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from clearformer.errors import UsageError
from clearformer.messages import did_you_mean
from clearformer.messages import spec as messages
from clearformer.spec.attention import Attention, Biases, Causal, Full, split_width
from clearformer.spec.block import Block, Placement, Sequential
from clearformer.spec.feedforward import Dense, Gated
from clearformer.spec.heads import Classes, First, Flatten, Forecast, Head, Language, Mean, Pooling, Transform
from clearformer.spec.initialisation import Normal, Xavier
from clearformer.spec.inputs import Patches, ReversibleNorm, Series, Tokens
from clearformer.spec.model import DecoderOnly, EncoderDecoder, EncoderOnly, Spec, Stack
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
    placement: Placement = "post",
) -> EncoderDecoder:
    """The Transformer of 2017 (Vaswani et al., Table 3, arXiv 1706.03762): post-norm, ReLU, sinusoids, one table.

    Its projections carry no bias in the paper's formulas; the feed-forward network does. With `placement` "pre" the
    norms stand before the sublayers and one at each stack's end (Xiong et al. 2020, arXiv 2002.04745).
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
            arrangement=Sequential(placement),
            dropout=dropout,
        )

    tokens = Tokens(vocabulary, Sinusoidal(), scale=math.sqrt(width), dropout=dropout)
    last = None if placement == "post" else LayerNorm()
    return EncoderDecoder(
        encoder=Stack(width, tokens, (block(decodes=False),) * layers, final_norm=last),
        decoder=Stack(width, tokens, (block(decodes=True),) * layers, final_norm=last),
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
    dropout: float = 0.0,
) -> DecoderOnly:
    """Today's decoder: pre-norm RMSNorm, rotary positions, grouped queries, SwiGLU. The defaults are SmolLM2-135M's."""
    key_width = split_width(width, heads)
    block = Block(
        attention=Attention(heads, kv_heads, key_width, key_width, position=Rotary(rope_base), dropout=dropout),
        feedforward=Gated(hidden, "silu"),
        attention_norm=RMSNorm(1e-5),
        feedforward_norm=RMSNorm(1e-5),
        dropout=dropout,
    )
    tokens = Tokens(vocabulary, dropout=dropout)
    return DecoderOnly(
        decoder=Stack(width, tokens, (block,) * layers, final_norm=RMSNorm(1e-5)),
        head=Language(tied=True),
        context=context,
        initial=Normal(0.02, residual_scaled=True),
    )


def bert_encoder(
    *,
    width: int = 768,
    heads: int = 12,
    hidden: int = 3072,
    layers: int = 12,
    vocabulary: int = 30522,
    context: int = 512,
    segments: int = 2,
    dropout: float = 0.1,
    head: Head | None = None,
) -> EncoderOnly:
    """BERT (Devlin et al. 2018, arXiv 1810.04805): post-norm, GELU, learned positions. The defaults are BERT-base's.

    `head` replaces the tied masked-language head.
    """
    key_width, norm = split_width(width, heads), LayerNorm(1e-12)
    attention = Attention(
        heads, heads, key_width, key_width, visibility=Full(), bias=Biases.everywhere(), dropout=dropout
    )
    block = Block(
        attention=attention,
        feedforward=Dense(hidden, "gelu"),
        attention_norm=norm,
        feedforward_norm=norm,
        arrangement=Sequential("post"),
        dropout=dropout,
    )
    tokens = Tokens(vocabulary, Learned(context), segments=segments, norm=norm, dropout=dropout)
    return EncoderOnly(
        encoder=Stack(width, tokens, (block,) * layers),
        head=head or Language(tied=True, bias=True, transform=Transform("gelu", norm)),
        context=context,
        initial=Normal(0.02, residual_scaled=False),
    )


def vit(
    *,
    size: tuple[int, int] = (224, 224),
    channels: int = 3,
    patch: int = 16,
    classes: int = 1000,
    width: int = 768,
    heads: int = 12,
    hidden: int = 3072,
    layers: int = 12,
    dropout: float = 0.0,
    pooled: bool = False,
) -> EncoderOnly:
    """The Vision Transformer (Dosovitskiy et al. 2020, arXiv 2010.11929): BERT's encoder, pre-norm, over squares of an
    image of `size` (height, width). The defaults are ViT-B/16's.

    `pooled` reads the mean of all positions and not the class token (Beyer et al. 2022, arXiv 2205.01580).
    """
    norm = LayerNorm(1e-6)
    image = Patches(size[0], size[1], patch, channels, class_token=not pooled, dropout=dropout)
    image = replace(image, position=Learned(image.length))
    return EncoderOnly(
        encoder=Stack(width, image, (_pre_norm(width, heads, hidden, norm, dropout),) * layers, final_norm=norm),
        head=Classes(classes, Pooling(Mean() if pooled else First())),
        context=image.length,
        initial=Normal(0.02, residual_scaled=False),
    )


def patch_forecaster(
    *,
    channels: int = 7,
    lookback: int = 336,
    horizon: int = 96,
    patch: int = 16,
    stride: int = 8,
    width: int = 128,
    heads: int = 16,
    hidden: int = 256,
    layers: int = 3,
    dropout: float = 0.2,
    head_dropout: float = 0.0,
    independent: bool = True,
    normalise: bool = True,
) -> EncoderOnly:
    """PatchTST (Nie et al. 2023, arXiv 2211.14730): patches of each channel alone, its level removed and restored, and
    one linear head on all positions. The defaults are its own for a look-back of 336.

    LayerNorm before each sublayer stands for the original's BatchNorm behind it, and no step is repeated at the end.
    """
    norm = LayerNorm()
    series = Series(
        channels,
        patch,
        stride,
        normalise=ReversibleNorm() if normalise else None,
        independent=independent,
        dropout=dropout,
    )
    length = series.length(lookback)
    series = replace(series, position=Learned(length))
    return EncoderOnly(
        encoder=Stack(width, series, (_pre_norm(width, heads, hidden, norm, dropout),) * layers, final_norm=norm),
        head=Forecast(horizon, Pooling(Flatten(length)), dropout=head_dropout),
        context=length,
        initial=Normal(0.02, residual_scaled=False),
    )


def _pre_norm(width: int, heads: int, hidden: int, norm: LayerNorm, dropout: float) -> Block:
    """A block that sees both ways, its norms before its sublayers."""
    key_width = split_width(width, heads)
    attention = Attention(
        heads, heads, key_width, key_width, visibility=Full(), bias=Biases.everywhere(), dropout=dropout
    )
    feedforward = Dense(hidden, "gelu", dropout=dropout)
    return Block(attention, feedforward, norm, norm, dropout=dropout)


PRESETS: dict[str, Callable[[], Spec]] = {
    "transformer-base": transformer_base,
    "transformer-big": transformer_big,
    "tiny-gpt": tiny_gpt,
    "modern-decoder": modern_decoder,
    "bert-encoder": bert_encoder,
    "vit": vit,
    "patch-forecaster": patch_forecaster,
}


def preset(name: str) -> Spec:
    """The named spec, at its published size."""
    if name not in PRESETS:
        hint = did_you_mean(name, PRESETS)
        raise UsageError(messages.UNKNOWN_PRESET, found=name, expected=", ".join(PRESETS), hint=hint)
    return PRESETS[name]()
