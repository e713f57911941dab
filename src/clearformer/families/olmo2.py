"""OLMo 2 (OLMo Team 2025, arXiv 2501.00656): norms on what a branch adds, queries and keys normalised as a whole."""

from __future__ import annotations

from clearformer.checkpoint.renames import Table
from clearformer.families.activations import ACTIVATIONS, foreign_name
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.decoder_heads import read_decoder_head
from clearformer.families.family import Family
from clearformer.families.rms_decoder import (
    HEAD_NORMS,
    MATRICES,
    Names,
    Pairs,
    decoder_table,
    parts_of,
    read_heads,
    read_initial,
    write_sizes,
)
from clearformer.families.rope import read_rotary, stretched, write_rotary
from clearformer.spec import (
    Attention,
    Biases,
    Block,
    DecoderOnly,
    Gated,
    QKNorm,
    RMSNorm,
    Sequential,
    Spec,
    Stack,
    Tokens,
)

_NAMES = Names("Olmo2ForCausalLM", "Olmo2Model", "Olmo2ForSequenceClassification")
_BRANCH_NORMS: Pairs = (
    ("post_attention_layernorm", "attention_norm"),
    ("post_feedforward_layernorm", "feedforward_norm"),
)


def translate(config: ConfigReader, architecture: str) -> Spec:
    width, length = config.whole("hidden_size"), config.whole("max_position_embeddings")
    heads, kv_heads, key_width = read_heads(config, width)
    rotary = read_rotary(config, length)
    # Unlike Llama's, its norms multiply before they round.
    norm = RMSNorm(config.number("rms_norm_eps", 1e-5), scale_first=True)
    block = Block(
        attention=Attention(
            heads,
            kv_heads,
            key_width,
            key_width,
            position=rotary,
            bias=Biases.everywhere() if config.flag("attention_bias", False) else Biases(),
            qk_norm=QKNorm(norm, "projection"),
            dropout=config.number("attention_dropout", 0.0),
        ),
        feedforward=Gated(config.whole("intermediate_size"), config.choice("hidden_act", ACTIVATIONS, "silu")),
        attention_norm=norm,
        feedforward_norm=norm,
        arrangement=Sequential("branch"),
    )
    layers = config.whole("num_hidden_layers", limit=MAX_LAYERS)
    return DecoderOnly(
        decoder=Stack(width, Tokens(config.whole("vocab_size")), (block,) * layers, final_norm=norm),
        head=read_decoder_head(config, architecture, tied=False),
        context=stretched(rotary, length),
        initial=read_initial(config),
    )


def to_config(spec: Spec) -> dict[str, object] | None:
    if (parts := parts_of(spec)) is None:
        return None
    return {
        **write_sizes(parts, "olmo2", _NAMES),
        "head_dim": parts.attention.key_width,
        "hidden_act": foreign_name(parts.feedforward.activation),
        "attention_bias": parts.attention.bias.query,
        "rope_parameters": write_rotary(parts.rotary),
    }


def table(spec: Spec) -> Table:
    return decoder_table(spec, MATRICES + HEAD_NORMS + _BRANCH_NORMS)


OLMO2 = Family("olmo2", _NAMES, translate, to_config, table)
