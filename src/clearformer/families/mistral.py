"""Mistral: Llama with a window and with heads as wide as `head_dim` says (Jiang et al. 2023, arXiv 2310.06825)."""

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
    read_layers,
    read_norm,
    write_decoder,
    write_gated,
)
from clearformer.families.heads import decoder_classes
from clearformer.families.layer_kinds import read_window, write_window
from clearformer.spec import Biases, Block, Causal, Spec

_CLASSES = decoder_classes("Mistral")
_UNSAID = Unsaid(kv_heads=8)
_WINDOW = 4096


def translate(config: ConfigReader, architecture: str) -> Spec:
    attention, norm = read_attention(config, Biases(), _UNSAID), read_norm(config)
    windowed = replace(attention, visibility=Causal(read_window(config, _WINDOW)))
    block = Block(windowed, read_gated(config), norm, norm)
    return read_decoder(config, architecture, _CLASSES, [block] * read_layers(config))


def to_config(spec: Spec) -> dict[str, object] | None:
    if (parts := parts_of(spec)) is None or parts.gated is None:
        return None
    written = write_decoder(parts, "mistral", _CLASSES)
    return written | write_gated(parts.gated) | write_window(parts.attentions)


MISTRAL = Family("mistral", _CLASSES, translate, to_config, decoder_table)
