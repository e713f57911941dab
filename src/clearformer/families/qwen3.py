"""Qwen3: heads of their own width whose queries and keys are normalised one by one (arXiv 2505.09388)."""

from __future__ import annotations

from dataclasses import replace

from clearformer.checkpoint.renames import Table
from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family
from clearformer.families.gated_decoder import (
    ATTENTION,
    GATED,
    HEAD_NORMS,
    NORMS,
    Unsaid,
    decoder_table,
    parts_of,
    read_attention,
    read_biases,
    read_decoder,
    read_gated,
    read_norm,
    write_decoder,
    write_gated,
)
from clearformer.families.heads import decoder_classes
from clearformer.families.qwen_windows import read_windows, write_windows
from clearformer.spec import Attention, Block, QKNorm, Spec

_CLASSES = decoder_classes("Qwen3")
_UNSAID = Unsaid(kv_heads=32, head_width=128)
LAYER = ATTENTION + HEAD_NORMS + GATED + NORMS


def read_qwen3_attention(config: ConfigReader, unsaid: Unsaid) -> Attention:
    """With a norm on each head's queries and keys."""
    return replace(read_attention(config, read_biases(config), unsaid), qk_norm=QKNorm(read_norm(config)))


def translate(config: ConfigReader, architecture: str) -> Spec:
    attention, feedforward, norm = read_qwen3_attention(config, _UNSAID), read_gated(config), read_norm(config)
    windows = read_windows(config, lambda layer, bound: layer >= bound)
    blocks = [Block(replace(attention, visibility=window), feedforward, norm, norm) for window in windows]
    return read_decoder(config, architecture, _CLASSES, blocks)


def to_config(spec: Spec) -> dict[str, object] | None:
    if (parts := parts_of(spec)) is None or parts.gated is None:
        return None
    return {
        **write_decoder(parts, "qwen3", _CLASSES),
        **write_gated(parts.gated),
        **write_windows(parts.attentions),
        "attention_bias": parts.attention.bias.query,
    }


def table(spec: Spec) -> Table:
    return decoder_table(spec, LAYER)


QWEN3 = Family("qwen3", _CLASSES, translate, to_config, table)
