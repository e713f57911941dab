"""Mixtral: Mistral with eight networks in each block, of which two read a token (Jiang 2024, arXiv 2401.04088)."""

from __future__ import annotations

from dataclasses import replace

from clearformer.checkpoint.renames import Table
from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family
from clearformer.families.gated_decoder import (
    ATTENTION,
    NORMS,
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
from clearformer.families.mixtures import MIXTRALS_EXPERT, mixture_rows, read_experts, write_experts
from clearformer.families.rope import RopeDialect
from clearformer.spec import Biases, Block, Causal, Gated, SoftmaxRouter, Spec

_CLASSES = decoder_classes("Mixtral")
_UNSAID = Unsaid(kv_heads=8, rope=RopeDialect(base=1e6))


def translate(config: ConfigReader, architecture: str) -> Spec:
    attention, norm = read_attention(config, Biases(), _UNSAID), read_norm(config, 1e-5)
    # Softmax over all, choice and division by the sum come to a softmax over the chosen.
    experts = read_experts(config, read_gated(config), SoftmaxRouter("after"), count=8, active=2)
    block = Block(replace(attention, visibility=Causal(read_window(config))), experts, norm, norm)
    return read_decoder(config, architecture, _CLASSES, [block] * read_layers(config))


def to_config(spec: Spec) -> dict[str, object] | None:
    if (parts := parts_of(spec)) is None or (experts := parts.experts) is None or not isinstance(experts.expert, Gated):
        return None
    written = write_decoder(parts, "mixtral", _CLASSES) | write_gated(experts.expert) | write_experts(experts)
    return written | write_window(parts.attentions)


def table(spec: Spec) -> Table:
    return (*decoder_table(spec, ATTENTION + NORMS), *mixture_rows(spec, "block_sparse_moe", MIXTRALS_EXPERT))


MIXTRAL = Family("mixtral", _CLASSES, translate, to_config, table)
