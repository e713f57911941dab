"""Qwen2 and Qwen2.5: Llama with biases on queries, keys and values (Yang et al. 2024, arXiv 2407.10671)."""

from __future__ import annotations

from dataclasses import replace

from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family
from clearformer.families.gated_decoder import (
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
from clearformer.families.heads import decoder_classes
from clearformer.families.qwen_windows import read_windows, write_windows
from clearformer.spec import Biases, Block, Spec

_CLASSES = decoder_classes("Qwen2")
_UNSAID = Unsaid(kv_heads=32)


def translate(config: ConfigReader, architecture: str) -> Spec:
    attention = read_attention(config, Biases(query=True, key=True, value=True), _UNSAID)
    feedforward, norm = read_gated(config), read_norm(config)
    # A switch of Qwen2-VL that its text models carry along.
    config.only("use_mrope", False)
    windows = read_windows(config, lambda layer, bound: layer >= bound)
    blocks = [Block(replace(attention, visibility=window), feedforward, norm, norm) for window in windows]
    return read_decoder(config, architecture, _CLASSES, blocks)


def to_config(spec: Spec) -> dict[str, object] | None:
    if (parts := parts_of(spec)) is None or parts.gated is None:
        return None
    return {**write_decoder(parts, "qwen2", _CLASSES), **write_gated(parts.gated), **write_windows(parts.attentions)}


QWEN2 = Family("qwen2", _CLASSES, translate, to_config, decoder_table)
