"""Qwen2-MoE and Qwen1.5-MoE: Qwen2 with experts, and one more that reads every token (arXiv 2407.10671, §2.2.2)."""

from __future__ import annotations

from dataclasses import replace

from clearformer.checkpoint.renames import Table
from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family
from clearformer.families.gated_decoder import (
    ATTENTION,
    GATED,
    NORMS,
    Pairs,
    Unsaid,
    decoder_table,
    parts_of,
    read_attention,
    read_decoder,
    read_gated,
    read_norm,
    write_decoder,
)
from clearformer.families.heads import decoder_classes
from clearformer.families.mixtures import QWENS_EXPERT, mixture_rows, read_qwen_mixture, write_qwen_mixture
from clearformer.families.qwen_windows import read_windows, write_windows
from clearformer.spec import Biases, Block, Spec

_CLASSES = decoder_classes("Qwen2Moe")
_UNSAID = Unsaid(kv_heads=16)
_SHARED_WIDTH = "shared_expert_intermediate_size"
_SHARED: Pairs = (
    ("mlp.shared_expert.gate_proj", "feedforward.shared.gate"),
    ("mlp.shared_expert.up_proj", "feedforward.shared.up"),
    ("mlp.shared_expert.down_proj", "feedforward.shared.down"),
    ("mlp.shared_expert_gate", "feedforward.shared_gate"),
)


def translate(config: ConfigReader, architecture: str) -> Spec:
    biased, norm = config.flag("qkv_bias", True), read_norm(config)
    attention = read_attention(config, Biases(query=biased, key=biased, value=biased), _UNSAID)
    feedforwards = read_qwen_mixture(config, count=60, active=4, shared=read_gated(config, _SHARED_WIDTH))
    # Unlike Qwen2: where windows are on, every second of the first blocks has one.
    windows = read_windows(config, lambda layer, bound: layer % 2 == 0 and layer < bound)
    blocks = [
        Block(replace(attention, visibility=window), feedforward, norm, norm)
        for window, feedforward in zip(windows, feedforwards, strict=True)
    ]
    return read_decoder(config, architecture, _CLASSES, blocks)


def to_config(spec: Spec) -> dict[str, object] | None:
    if (parts := parts_of(spec)) is None or (experts := parts.experts) is None or experts.shared is None:
        return None
    return {
        **write_decoder(parts, "qwen2_moe", _CLASSES),
        **write_qwen_mixture(parts, experts),
        **write_windows(parts.attentions),
        _SHARED_WIDTH: experts.shared.width,
        "qkv_bias": parts.attention.bias.query,
    }


def table(spec: Spec) -> Table:
    layer = ATTENTION + GATED + NORMS + _SHARED
    return (*decoder_table(spec, layer), *mixture_rows(spec, "mlp", QWENS_EXPERT))


QWEN2_MOE = Family("qwen2_moe", _CLASSES, translate, to_config, table)
