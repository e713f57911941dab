"""GLM-4 of 2025 (GLM Team 2024, arXiv 2406.12793): norms on both sides, half of each head turned pair by pair."""

from __future__ import annotations

import dataclasses

from clearformer.checkpoint.renames import Table
from clearformer.families.activations import ACTIVATIONS, foreign_name
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.decoder_heads import read_decoder_head
from clearformer.families.family import Family
from clearformer.families.rms_decoder import (
    DOWN,
    OUTPUT,
    QUERY_KEY_VALUE,
    Names,
    Pairs,
    decoder_table,
    fused_gate,
    parts_of,
    read_heads,
    read_initial,
    write_sizes,
)
from clearformer.families.rope import RopeDialect, read_rotary, stretched, write_rotary
from clearformer.spec import (
    Attention,
    Biases,
    Block,
    DecoderOnly,
    Gated,
    RMSNorm,
    Sequential,
    Spec,
    Stack,
    Tokens,
)

_NAMES = Names("Glm4ForCausalLM", "Glm4Model", "Glm4ForSequenceClassification")
_SANDWICH: Pairs = (
    ("input_layernorm", "attention_norm"),
    ("post_self_attn_layernorm", "attention_output_norm"),
    ("post_attention_layernorm", "feedforward_norm"),
    ("post_mlp_layernorm", "feedforward_output_norm"),
)


def translate(config: ConfigReader, architecture: str) -> Spec:
    width, length = config.whole("hidden_size"), config.whole("max_position_embeddings")
    heads, kv_heads, key_width = read_heads(config, width, 128)
    rotary = read_rotary(config, length, RopeDialect(head_width=key_width, part=0.5))
    rotary = dataclasses.replace(rotary, layout="interleaved")
    norm = RMSNorm(config.number("rms_norm_eps", 1.5625e-7))
    biased = config.flag("attention_bias", True)
    block = Block(
        attention=Attention(
            heads,
            kv_heads,
            key_width,
            key_width,
            position=rotary,
            bias=Biases(query=biased, key=biased, value=biased),
            dropout=config.number("attention_dropout", 0.0),
        ),
        feedforward=Gated(config.whole("intermediate_size"), config.choice("hidden_act", ACTIVATIONS, "silu")),
        attention_norm=norm,
        feedforward_norm=norm,
        arrangement=Sequential("sandwich"),
    )
    layers = config.whole("num_hidden_layers", limit=MAX_LAYERS)
    return DecoderOnly(
        decoder=Stack(width, Tokens(config.whole("vocab_size")), (block,) * layers, final_norm=norm),
        head=read_decoder_head(config, architecture, tied=False),
        context=stretched(rotary, length),
        initial=read_initial(config),
    )


def to_config(spec: Spec) -> dict[str, object] | None:
    if (parts := parts_of(spec)) is None:
        return None
    return {
        **write_sizes(parts, "glm4", _NAMES),
        "head_dim": parts.attention.key_width,
        "hidden_act": foreign_name(parts.feedforward.activation),
        "attention_bias": parts.attention.bias.query,
        "rope_parameters": write_rotary(parts.rotary, parts.attention.key_width),
    }


def table(spec: Spec) -> Table:
    assert isinstance(spec, DecoderOnly)
    feedforward = spec.decoder.blocks[0].feedforward
    assert isinstance(feedforward, Gated)
    return decoder_table(spec, QUERY_KEY_VALUE + OUTPUT + DOWN + _SANDWICH, (fused_gate(feedforward.width),))


GLM4 = Family("glm4", _NAMES, translate, to_config, table)
