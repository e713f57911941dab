"""Qwen3-MoE: Qwen3 with many small experts and none shared (Yang et al. 2025, arXiv 2505.09388)."""

from __future__ import annotations

from dataclasses import replace

from clearformer.checkpoint.renames import Table
from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family
from clearformer.families.gated_decoder import (
    Unsaid,
    decoder_table,
    parts_of,
    read_decoder,
    read_norm,
    write_decoder,
)
from clearformer.families.heads import decoder_classes
from clearformer.families.layer_kinds import read_switched_window, write_switched_window
from clearformer.families.mixtures import QWENS_EXPERT, mixture_rows, read_qwen_mixture, write_qwen_mixture
from clearformer.families.qwen3 import LAYER, read_qwen3_attention
from clearformer.families.qwen_windows import DEFAULT
from clearformer.spec import Block, Causal, Spec

_CLASSES = decoder_classes("Qwen3Moe")
_UNSAID = Unsaid(kv_heads=4)


def translate(config: ConfigReader, architecture: str) -> Spec:
    # Unlike Qwen3: where the window is on, every block has it, whatever `max_window_layers` says.
    window, norm = read_switched_window(config, DEFAULT), read_norm(config)
    attention = replace(read_qwen3_attention(config, _UNSAID), visibility=Causal(window))
    blocks = [Block(attention, each, norm, norm) for each in read_qwen_mixture(config, count=128, active=8)]
    return read_decoder(config, architecture, _CLASSES, blocks)


def to_config(spec: Spec) -> dict[str, object] | None:
    if (parts := parts_of(spec)) is None or (experts := parts.experts) is None:
        return None
    return {
        **write_decoder(parts, "qwen3_moe", _CLASSES),
        **write_qwen_mixture(parts, experts),
        **write_switched_window(parts.attentions),
        "attention_bias": parts.attention.bias.query,
    }


def table(spec: Spec) -> Table:
    return (*decoder_table(spec, LAYER), *mixture_rows(spec, "mlp", QWENS_EXPERT))


QWEN3_MOE = Family("qwen3_moe", _CLASSES, translate, to_config, table)
