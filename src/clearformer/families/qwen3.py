"""Qwen3: heads of their own width whose queries and keys are normalised one by one (arXiv 2505.09388)."""

from __future__ import annotations

from dataclasses import replace

from clearformer.checkpoint.renames import Table
from clearformer.families.config_reader import ConfigReader
from clearformer.families.decoder_heads import decoder_classes
from clearformer.families.family import Family
from clearformer.families.gated_decoder import (
    ATTENTION,
    GATED,
    NORMS,
    Unsaid,
    decoder_table,
    parts_of,
    read_attention,
    read_decoder,
    read_gated,
    read_norm,
    write_decoder,
    write_gated,
)
from clearformer.families.windows import read_layer_windows, write_layer_windows
from clearformer.spec import Attention, Biases, QKNorm, Spec

_CLASSES = decoder_classes("Qwen3")
_UNSAID = Unsaid(kv_heads=32, head_width=128)
_QK_NORMS = (
    ("self_attn.q_norm", "attention.query_norm"),
    ("self_attn.k_norm", "attention.key_norm"),
)
LAYER = ATTENTION + _QK_NORMS + GATED + NORMS


def read_qwen3_attention(config: ConfigReader, unsaid: Unsaid) -> Attention:
    """Biases in all four projections or none, and a norm on each head's queries and keys."""
    bias = Biases.everywhere() if config.flag("attention_bias", False) else Biases()
    return replace(read_attention(config, bias, unsaid), qk_norm=QKNorm(read_norm(config)))


def translate(config: ConfigReader, architecture: str) -> Spec:
    attention, feedforward = read_qwen3_attention(config, _UNSAID), read_gated(config)
    windows = read_layer_windows(config, lambda layer, bound: layer >= bound)
    blocks = [(replace(attention, visibility=window), feedforward) for window in windows]
    return read_decoder(config, architecture, read_norm(config), blocks)


def to_config(spec: Spec) -> dict[str, object] | None:
    if (parts := parts_of(spec)) is None or parts.gated is None:
        return None
    return {
        **write_decoder(parts, "qwen3", _CLASSES),
        **write_gated(parts.gated),
        **write_layer_windows(parts),
        "attention_bias": parts.attention.bias.query,
    }


def table(spec: Spec) -> Table:
    return decoder_table(spec, LAYER)


QWEN3 = Family("qwen3", _CLASSES, translate, to_config, table)
