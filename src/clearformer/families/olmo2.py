"""OLMo 2 (OLMo Team 2025, arXiv 2501.00656): norms on what a branch adds, queries and keys normalised as a whole."""

from __future__ import annotations

from dataclasses import replace

from clearformer.checkpoint.renames import Table
from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family
from clearformer.families.gated_decoder import (
    ATTENTION,
    GATED,
    HEAD_NORMS,
    Pairs,
    decoder_table,
    parts_of,
    read_attention,
    read_biases,
    read_decoder,
    read_gated,
    read_layers,
    read_norm,
    write_decoder,
    write_gated,
)
from clearformer.families.heads import decoder_classes
from clearformer.spec import Block, QKNorm, Sequential, Spec

_CLASSES = decoder_classes("Olmo2")
_BRANCH_NORMS: Pairs = (
    ("post_attention_layernorm", "attention_norm"),
    ("post_feedforward_layernorm", "feedforward_norm"),
)


def translate(config: ConfigReader, architecture: str) -> Spec:
    # Unlike Llama's, its norms multiply before they round.
    norm = replace(read_norm(config, 1e-5), scale_first=True)
    attention = replace(read_attention(config, read_biases(config)), qk_norm=QKNorm(norm, "projection"))
    block = Block(attention, read_gated(config), norm, norm, arrangement=Sequential("branch"))
    return read_decoder(config, architecture, _CLASSES, [block] * read_layers(config))


def to_config(spec: Spec) -> dict[str, object] | None:
    if (parts := parts_of(spec)) is None or parts.gated is None:
        return None
    written = write_decoder(parts, "olmo2", _CLASSES) | write_gated(parts.gated)
    return written | {"attention_bias": parts.attention.bias.query}


def table(spec: Spec) -> Table:
    return decoder_table(spec, ATTENTION + GATED + HEAD_NORMS + _BRANCH_NORMS)


OLMO2 = Family("olmo2", _CLASSES, translate, to_config, table)
