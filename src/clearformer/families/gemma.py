"""Gemma (Gemma Team 2024, arXiv 2403.08295), and what its successors keep: norms around 1, scaled embeddings, GeGLU."""

from __future__ import annotations

import math

from clearformer.checkpoint.renames import Table
from clearformer.families.activations import ACTIVATIONS, foreign_name
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.decoder_heads import read_decoder_head
from clearformer.families.family import Family
from clearformer.families.rms_decoder import (
    MATRICES,
    PRE_NORMS,
    Names,
    decoder_table,
    parts_of,
    read_heads,
    read_initial,
    write_sizes,
)
from clearformer.families.rope import read_rotary, stretched, write_rotary
from clearformer.messages import families as say
from clearformer.spec import (
    Activation,
    Attention,
    Biases,
    Block,
    DecoderOnly,
    Gated,
    RMSNorm,
    Spec,
    Stack,
    Tokens,
)

HEAD_WIDTH = 256
_NAMES = Names("GemmaForCausalLM", "GemmaModel", "GemmaForSequenceClassification")
_TANH = "gelu_pytorch_tanh"


def translate(config: ConfigReader, architecture: str) -> Spec:
    width, length = config.whole("hidden_size"), config.whole("max_position_embeddings")
    heads, kv_heads, key_width = read_heads(config, width, HEAD_WIDTH)
    rotary, norm = read_rotary(config, length), read_norm(config)
    block = Block(
        attention=Attention(
            heads,
            kv_heads,
            key_width,
            key_width,
            position=rotary,
            bias=read_biases(config),
            dropout=config.number("attention_dropout", 0.0),
        ),
        feedforward=read_geglu(config, "hidden_act", "hidden_activation"),
        attention_norm=norm,
        feedforward_norm=norm,
    )
    # Its masks stay causal whatever this says; only a kernel without a mask would heed it.
    config.only("use_bidirectional_attention", False)
    layers = config.whole("num_hidden_layers", limit=MAX_LAYERS)
    return DecoderOnly(
        decoder=Stack(width, read_tokens(config, width), (block,) * layers, final_norm=norm),
        head=read_decoder_head(config, architecture, tied=True),
        context=stretched(rotary, length),
        initial=read_initial(config),
    )


def read_norm(config: ConfigReader) -> RMSNorm:
    """A norm that multiplies by 1 + weight, all of it in float32."""
    return RMSNorm(config.number("rms_norm_eps", 1e-6), unit_offset=True, scale_first=True)


def read_tokens(config: ConfigReader, width: int) -> Tokens:
    """Rows times √D, a number that the first release rounded to bfloat16 and all later ones with it."""
    return Tokens(config.whole("vocab_size"), scale=math.sqrt(width), round_scale=True)


def read_biases(config: ConfigReader) -> Biases:
    return Biases.everywhere() if config.flag("attention_bias", False) else Biases()


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
    if (parts := parts_of(spec)) is None:
        return None
    return {
        **write_sizes(parts, "gemma", _NAMES),
        "head_dim": parts.attention.key_width,
        "hidden_act": foreign_name(parts.feedforward.activation),
        "attention_bias": parts.attention.bias.query,
        "rope_parameters": write_rotary(parts.rotary),
    }


def table(spec: Spec) -> Table:
    return decoder_table(spec, MATRICES + PRE_NORMS)


GEMMA = Family("gemma", _NAMES, translate, to_config, table)
