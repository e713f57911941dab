"""Mistral: Llama with a window and with heads as wide as `head_dim` says (Jiang et al. 2023, arXiv 2310.06825)."""

from __future__ import annotations

from dataclasses import replace

from clearformer.families.config_reader import ConfigReader
from clearformer.families.decoder_heads import decoder_classes
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
from clearformer.families.windows import read_window, windows_of
from clearformer.spec import Biases, Spec

_CLASSES = decoder_classes("Mistral")
_UNSAID = Unsaid(kv_heads=8)
_WINDOW = 4096


def translate(config: ConfigReader, architecture: str) -> Spec:
    attention = replace(read_attention(config, Biases(), _UNSAID), visibility=read_window(config, _WINDOW))
    blocks = [(attention, read_gated(config))] * read_layers(config)
    return read_decoder(config, architecture, read_norm(config), blocks)


def to_config(spec: Spec) -> dict[str, object] | None:
    if (parts := parts_of(spec)) is None or parts.gated is None:
        return None
    written = write_decoder(parts, "mistral", _CLASSES) | write_gated(parts.gated)
    return written | {"sliding_window": windows_of(parts)[0]}


MISTRAL = Family("mistral", _CLASSES, translate, to_config, decoder_table)
