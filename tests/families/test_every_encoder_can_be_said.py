"""One representative spec of every encoder, translator and image family, counted as the decoders are.

Sizes differ from each other on purpose, so that a norm, bias or projection too many or too few cannot cancel out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
import transformers as hf

from clearformer import spec as s
from clearformer.build import empty

D, F, V, H, K, L, CONTEXT = 48, 88, 101, 6, 8, 2, 64
LAYER, NO_BIAS, RMS = s.LayerNorm(), s.LayerNorm(bias=False), s.RMSNorm(1e-6)
ALL = s.Biases.everywhere()
BERT_LIKE = {
    "vocab_size": V,
    "hidden_size": D,
    "intermediate_size": F,
    "num_hidden_layers": L,
    "num_attention_heads": H,
    "max_position_embeddings": CONTEXT,
}


def multi_head(**choices: Any) -> s.Attention:
    return s.Attention(H, H, K, K, **choices)


def block(attention: s.Attention, feedforward: s.FeedForward, norm: s.Norm, **choices: Any) -> s.Block:
    return s.Block(attention, feedforward, norm, norm, **choices)


def encoder(head: s.Head, *blocks: s.Block, final: s.Norm | None = None, **tokens: Any) -> s.Spec:
    return s.EncoderOnly(s.Stack(D, s.Tokens(V, **tokens), blocks, final_norm=final), head, CONTEXT)


MODERN_GLOBAL = block(multi_head(visibility=s.Full(), position=s.Rotary(160000.0)), s.Gated(F, "gelu"), NO_BIAS)
MODERN_LOCAL = replace(MODERN_GLOBAL, attention=multi_head(visibility=s.Full(radius=64), position=s.Rotary()))
BERT = s.Block(
    multi_head(visibility=s.Full(), bias=ALL), s.Dense(F, "gelu"), LAYER, LAYER, arrangement=s.Sequential("post")
)


def transform(bias: bool = True, norm: s.Norm = LAYER, output: bool = True) -> s.Language:
    return s.Language(True, bias=output, transform=s.Transform("gelu", norm, bias))


def translator(
    norm: s.Norm, position: Any, place: str, bias: s.Biases, shared: bool, head: s.Language, /, **tokens: Any
):
    """Encoder and decoder of one shape; `position` is the input's, or T5's (encoder, decoder) biases."""
    by_input = not isinstance(position, tuple)
    first, second = (None, None) if by_input else position
    scale = None if by_input else 1.0
    attend = {"bias": bias, "scale": scale}
    feedforward = s.Dense(F, "relu", bias=by_input)
    cross = multi_head(visibility=s.Full(), **attend)
    encodes = block(multi_head(visibility=s.Full(), position=first, **attend), feedforward, norm)
    decodes = block(multi_head(position=second, **attend), feedforward, norm, cross_attention=cross, cross_norm=norm)
    final = norm if place == "pre" else None
    source = s.Tokens(V, position if by_input else None, **tokens)
    stacks = [
        s.Stack(D, source, (replace(b, arrangement=s.Sequential(place)),) * L, final_norm=final)
        for b in (encodes, decodes)
    ]
    return s.EncoderDecoder(*stacks, head, CONTEXT, shared_vocabulary=shared)


T5_BIAS = (s.RelativeBias(two_sided=True), s.RelativeBias())
SEQ2SEQ = {
    "vocab_size": V,
    "d_model": D,
    "encoder_layers": L,
    "decoder_layers": L,
    "encoder_attention_heads": H,
    "decoder_attention_heads": H,
    "encoder_ffn_dim": F,
    "decoder_ffn_dim": F,
    "max_position_embeddings": CONTEXT,
    "pad_token_id": 1,
    "decoder_start_token_id": 2,
}


def tower(position: s.InputPosition | None, visibility: s.Visibility) -> s.Block:
    return block(multi_head(visibility=visibility, bias=ALL), s.Dense(F, "quick_gelu"), LAYER)


def clip() -> s.Spec:
    text = s.Stack(D, s.Tokens(V, s.Learned(CONTEXT)), (tower(None, s.Causal()),) * L, final_norm=LAYER)
    patches = s.Patches(32, 32, 8, position=s.Learned(17), bias=False, norm=LAYER)
    image = s.Stack(D, patches, (tower(None, s.Full()),) * L, final_norm=LAYER)
    return s.TwoTowers(
        s.DecoderOnly(text, s.Vector(s.Pooling(s.EndToken(V - 1)), width=20), CONTEXT),
        s.EncoderOnly(image, s.Vector(s.Pooling(s.First()), width=20), 17),
    )


def vit() -> s.Spec:
    patches = s.Patches(32, 32, 8, position=s.Learned(17))
    blocks = (block(multi_head(visibility=s.Full(), bias=ALL), s.Dense(F, "gelu"), LAYER),) * L
    return s.EncoderOnly(s.Stack(D, patches, blocks, final_norm=LAYER), s.Classes(5, s.Pooling(s.First())), 17)


CLIP_SIZES = {"hidden_size": D, "intermediate_size": F, "num_hidden_layers": L, "num_attention_heads": H}
CLIP = hf.CLIPConfig(
    text_config={**CLIP_SIZES, "vocab_size": V, "max_position_embeddings": CONTEXT, "projection_dim": 20},
    vision_config={**CLIP_SIZES, "image_size": 32, "patch_size": 8, "projection_dim": 20},
    projection_dim=20,
)


ROBERTA = hf.RobertaConfig(**BERT_LIKE | {"max_position_embeddings": CONTEXT + 2}, type_vocab_size=1)
DISTILBERT = hf.DistilBertConfig(
    vocab_size=V, dim=D, hidden_dim=F, n_layers=L, n_heads=H, max_position_embeddings=CONTEXT, num_labels=3
)
MODERNBERT = hf.ModernBertConfig(**BERT_LIKE, layer_types=["full_attention", "sliding_attention"], pad_token_id=0)
T5 = {"vocab_size": V, "d_model": D, "d_kv": K, "d_ff": F, "num_layers": L, "num_heads": H}
GATED = s.Gated(F, "gelu_tanh")


def flan() -> s.Spec:
    """T5 1.1: gated, and a head of its own."""
    first = translator(RMS, T5_BIAS, "pre", s.Biases(), True, s.Language(tied=False))
    stacks = [
        replace(stack, blocks=tuple(replace(b, feedforward=GATED) for b in stack.blocks))
        for stack in (first.encoder, first.decoder)
    ]
    return replace(first, encoder=stacks[0], decoder=stacks[1])


FAMILIES: dict[str, tuple[s.Spec, Any, Any]] = {
    "bert": (
        encoder(transform(), BERT, BERT, position=s.Learned(CONTEXT), segments=2, norm=LAYER),
        hf.BertForMaskedLM,
        hf.BertConfig(**BERT_LIKE),
    ),
    "roberta": (
        encoder(transform(), BERT, BERT, position=s.Learned(CONTEXT, offset=2), segments=1, norm=LAYER),
        hf.RobertaForMaskedLM,
        ROBERTA,
    ),
    "distilbert": (
        encoder(transform(), BERT, BERT, position=s.Learned(CONTEXT), norm=LAYER),
        hf.DistilBertForMaskedLM,
        DISTILBERT,
    ),
    "distilbert_labels": (
        encoder(
            s.Classes(3, s.Pooling(transform=s.Transform("relu"))), BERT, BERT, position=s.Learned(CONTEXT), norm=LAYER
        ),
        hf.DistilBertForSequenceClassification,
        DISTILBERT,
    ),
    "modernbert": (
        encoder(
            transform(bias=False, norm=NO_BIAS),
            replace(MODERN_GLOBAL, attention_norm=None),
            MODERN_LOCAL,
            final=NO_BIAS,
            norm=NO_BIAS,
        ),
        hf.ModernBertForMaskedLM,
        MODERNBERT,
    ),
    "t5": (
        translator(RMS, T5_BIAS, "pre", s.Biases(), True, s.Language(True, hidden_scale=D**-0.5)),
        hf.T5ForConditionalGeneration,
        hf.T5Config(**T5),
    ),
    "flan_t5": (
        flan(),
        hf.T5ForConditionalGeneration,
        hf.T5Config(**T5, feed_forward_proj="gated-gelu", tie_word_embeddings=False),
    ),
    "marian": (
        translator(LAYER, s.Sinusoidal(layout="halves"), "post", ALL, True, s.Language(True, bias=True), scale=D**0.5),
        hf.MarianMTModel,
        hf.MarianConfig(**SEQ2SEQ, scale_embedding=True),
    ),
    "bart": (
        translator(LAYER, s.Learned(CONTEXT, offset=2), "post", ALL, True, s.Language(True, bias=True), norm=LAYER),
        hf.BartForConditionalGeneration,
        hf.BartConfig(**SEQ2SEQ),
    ),
    "vit": (
        vit(),
        hf.ViTForImageClassification,
        hf.ViTConfig(
            hidden_size=D,
            intermediate_size=F,
            num_hidden_layers=L,
            num_attention_heads=H,
            image_size=32,
            patch_size=8,
            num_labels=5,
        ),
    ),
    "clip": (clip(), hf.CLIPModel, CLIP),
}


def fixed_parameters(family: str) -> int:
    """What transformers keeps beside trained parameters (positive), or as buffers (negative)."""
    match family:
        case "marian":
            # Sinusoids as two frozen tables, and the logits' bias as a buffer.
            return 2 * CONTEXT * D - V
        case "bart":
            return -V
        case "flan_t5":
            # transformers 5 gives T5 a head of its own only when the file has one.
            return -V * D
        case _:
            return 0


@pytest.mark.parametrize("family", FAMILIES)
def test_as_many_parameters_as_transformers(family):
    spec, model, config = FAMILIES[family]
    with torch.device("meta"):
        theirs = model(config).num_parameters()
    ours = sum(parameter.numel() for parameter in empty(spec).parameters())
    assert ours == theirs - fixed_parameters(family)
