"""Gemma (Gemma Team 2024, arXiv 2403.08295), and what its successors keep: norms around 1, scaled embeddings, GeGLU."""

from __future__ import annotations

import math
from dataclasses import replace

from clearformer.families.activations import ACTIVATIONS
from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family
from clearformer.families.gated_decoder import (
    Unsaid,
    decoder_table,
    parts_of,
    read_attention,
    read_biases,
    read_decoder,
    read_layers,
    write_decoder,
    write_gated,
)
from clearformer.families.gated_decoder import read_norm as read_plain_norm
from clearformer.families.gated_decoder import read_tokens as read_plain_tokens
from clearformer.families.heads import decoder_classes
from clearformer.messages import families as say
from clearformer.spec import Activation, Block, Gated, RMSNorm, Spec, Tokens

HEAD_WIDTH = 256
_CLASSES = decoder_classes("Gemma")
_UNSAID = Unsaid(kv_heads=16, head_width=HEAD_WIDTH)
_TANH = "gelu_pytorch_tanh"


def translate(config: ConfigReader, architecture: str) -> Spec:
    attention, norm = read_attention(config, read_biases(config), _UNSAID), read_norm(config)
    block = Block(attention, read_geglu(config, "hidden_act", "hidden_activation"), norm, norm)
    # Its masks stay causal whatever this says; only a kernel without a mask would heed it.
    config.only("use_bidirectional_attention", False)
    blocks = [block] * read_layers(config)
    return read_decoder(config, architecture, _CLASSES, blocks, tokens=read_tokens(config), tied=True)


def read_norm(config: ConfigReader) -> RMSNorm:
    """A norm that multiplies by 1 + weight, all of it in float32."""
    return replace(read_plain_norm(config), unit_offset=True, scale_first=True)


def read_tokens(config: ConfigReader) -> Tokens:
    """Rows times √D, a number that the first release rounded to bfloat16 and all later ones with it."""
    return replace(read_plain_tokens(config), scale=math.sqrt(config.whole("hidden_size")), round_scale=True)


def read_geglu(config: ConfigReader, key: str, other: str) -> Gated:
    """The gated network. `key` names its activation; `other`, which stands beside it in configs of the first months,
    must not contradict it. In `hidden_act`, "gelu" has meant the tanh form from the first."""
    found: dict[str, Activation] = {}
    for name in (key, other):
        meant: dict[str, Activation] = {**ACTIVATIONS, "gelu": "gelu_tanh"} if name == "hidden_act" else ACTIVATIONS
        if name == key or config.has(name):
            found[name] = config.choice(name, meant, _TANH)
    if len(set(found.values())) > 1:
        config.contradiction(key, other, say.ACTIVATIONS_DIFFER)
    return Gated(config.whole("intermediate_size"), found[key])


def to_config(spec: Spec) -> dict[str, object] | None:
    if (parts := parts_of(spec)) is None or parts.gated is None:
        return None
    return {
        **write_decoder(parts, "gemma", _CLASSES),
        **write_gated(parts.gated),
        "attention_bias": parts.attention.bias.query,
    }


GEMMA = Family("gemma", _CLASSES, translate, to_config, decoder_table)
