"""GLM-4 of 2025 (GLM Team 2024, arXiv 2406.12793): norms on both sides, half of each head turned pair by pair."""

from __future__ import annotations

from clearformer.checkpoint.renames import Table
from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family
from clearformer.families.gated_decoder import (
    ATTENTION,
    DOWN,
    Pairs,
    Unsaid,
    decoder_table,
    fused_gate,
    parts_of,
    read_attention,
    read_decoder,
    read_gated,
    read_layers,
    read_norm,
    write_decoder,
    write_gated,
)
from clearformer.families.heads import decoder_classes
from clearformer.families.rope import RopeDialect, write_rotary
from clearformer.spec import Biases, Block, Sequential, Spec

_CLASSES = decoder_classes("Glm4")
_UNSAID = Unsaid(kv_heads=2, head_width=128, rope=RopeDialect(part=0.5, layout="interleaved"))
_SANDWICH: Pairs = (
    ("input_layernorm", "attention_norm"),
    ("post_self_attn_layernorm", "attention_output_norm"),
    ("post_attention_layernorm", "feedforward_norm"),
    ("post_mlp_layernorm", "feedforward_output_norm"),
)


def translate(config: ConfigReader, architecture: str) -> Spec:
    biased, norm = config.flag("attention_bias", True), read_norm(config, 1.5625e-7)
    attention = read_attention(config, Biases(query=biased, key=biased, value=biased), _UNSAID)
    block = Block(attention, read_gated(config), norm, norm, arrangement=Sequential("sandwich"))
    return read_decoder(config, architecture, _CLASSES, [block] * read_layers(config))


def to_config(spec: Spec) -> dict[str, object] | None:
    if (parts := parts_of(spec)) is None or parts.gated is None:
        return None
    return {
        **write_decoder(parts, "glm4", _CLASSES),
        **write_gated(parts.gated),
        "attention_bias": parts.attention.bias.query,
        "rope_parameters": write_rotary(parts.rotary, parts.attention.key_width),
    }


def table(spec: Spec) -> Table:
    parts = parts_of(spec)
    assert parts is not None
    assert parts.gated is not None
    return decoder_table(spec, ATTENTION + DOWN + _SANDWICH, (fused_gate(parts.gated.width),))


GLM4 = Family("glm4", _CLASSES, translate, to_config, table)
