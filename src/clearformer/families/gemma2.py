"""Gemma 2 (Gemma Team 2024, arXiv 2408.00118): sandwich norms, capped scores and logits, every other layer local."""

from __future__ import annotations

from collections.abc import Mapping

from clearformer.checkpoint.renames import Table
from clearformer.families.activations import foreign_name
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.decoder_heads import read_decoder_head
from clearformer.families.family import Family
from clearformer.families.gemma import HEAD_WIDTH, read_biases, read_geglu, read_norm, read_tokens
from clearformer.families.layer_kinds import reach_of, read_local_layers, read_window, write_layer_types
from clearformer.families.rms_decoder import (
    MATRICES,
    Names,
    Pairs,
    Parts,
    decoder_table,
    parts_of,
    read_heads,
    read_initial,
    require_split,
    write_sizes,
)
from clearformer.families.rope import read_rotary, stretched, write_rotary
from clearformer.spec import (
    Attention,
    Block,
    Causal,
    DecoderOnly,
    Language,
    QKNorm,
    Rotary,
    Sequential,
    Spec,
    Stack,
    Visibility,
)

_NAMES = Names("Gemma2ForCausalLM", "Gemma2Model", "Gemma2ForSequenceClassification")
_WINDOW = 4096
SANDWICH: Pairs = (
    ("input_layernorm", "attention_norm"),
    ("post_attention_layernorm", "attention_output_norm"),
    ("pre_feedforward_layernorm", "feedforward_norm"),
    ("post_feedforward_layernorm", "feedforward_output_norm"),
)


def translate(config: ConfigReader, architecture: str) -> Spec:
    width, length = config.whole("hidden_size"), config.whole("max_position_embeddings")
    layers = config.whole("num_hidden_layers", limit=MAX_LAYERS)
    local = read_local_layers(config, layers, tuple(layer % 2 == 0 for layer in range(layers)))
    window, rotary = read_window(config, _WINDOW, wanted=any(local)), read_rotary(config, length)
    seen: dict[bool, tuple[Visibility, Rotary]] = {False: (Causal(), rotary), True: (Causal(window), rotary)}
    blocks = read_blocks(config, width, local, seen, score_cap=read_cap(config, "attn_logit_softcapping", 50.0))
    # As in Gemma: its masks stay causal whatever this says.
    config.only("use_bidirectional_attention", False)
    cap = read_cap(config, "final_logit_softcapping", 30.0)
    return DecoderOnly(
        decoder=Stack(width, read_tokens(config, width), blocks, final_norm=read_norm(config)),
        head=read_decoder_head(config, architecture, tied=True, cap=cap),
        context=stretched(rotary, length),
        initial=read_initial(config),
    )


def read_blocks(
    config: ConfigReader,
    width: int,
    local: tuple[bool, ...],
    seen: Mapping[bool, tuple[Visibility, Rotary]],
    *,
    score_cap: float | None = None,
    head_norms: bool = False,
) -> tuple[Block, ...]:
    """A block a layer; `seen` says what global (False) and local (True) layers see, and where in it they stand."""
    heads, kv_heads, key_width = read_heads(config, width, HEAD_WIDTH)
    require_split(config, width, heads)
    norm, bias, scalar = read_norm(config), read_biases(config), config.whole("query_pre_attn_scalar", 256)
    feedforward = read_geglu(config, "hidden_activation", "hidden_act")
    dropout = config.number("attention_dropout", 0.0)
    kinds = {
        is_local: Block(
            attention=Attention(
                heads,
                kv_heads,
                key_width,
                key_width,
                visibility=visibility,
                position=rotary,
                bias=bias,
                qk_norm=QKNorm(norm) if head_norms else None,
                scale=None if scalar == key_width else scalar**-0.5,
                score_cap=score_cap,
                dropout=dropout,
            ),
            feedforward=feedforward,
            attention_norm=norm,
            feedforward_norm=norm,
            arrangement=Sequential("sandwich"),
        )
        for is_local, (visibility, rotary) in seen.items()
    }
    return tuple(kinds[is_local] for is_local in local)


def read_cap(config: ConfigReader, key: str, default: float | None) -> float | None:
    """A cap on scores or logits; null is none, which is not what an absent key means."""
    if not config.has(key) and (default is None or config.mentions(key)):
        return None
    return config.number(key, default)


def write_blocks(parts: Parts) -> dict[str, object]:
    """What `read_blocks` reads, the layers' kinds and the cap on logits."""
    attention = parts.attention
    return {
        "head_dim": attention.key_width,
        "hidden_activation": foreign_name(parts.feedforward.activation),
        "attention_bias": attention.bias.query,
        "query_pre_attn_scalar": round(min(max(attention.score_scale, 1e-6), 1e6) ** -2),
        "layer_types": write_layer_types(parts.attentions),
        "final_logit_softcapping": parts.head.cap if isinstance(parts.head, Language) else None,
    }


def window_of(parts: Parts) -> int:
    """The local layers' reach. Its mask is made whether or not a layer uses it, so there is always one to write."""
    reaches = (reach_of(each) for each in parts.attentions)
    return next((reach for reach in reaches if reach is not None), _WINDOW)


def to_config(spec: Spec) -> dict[str, object] | None:
    if (parts := parts_of(spec)) is None:
        return None
    return {
        **write_sizes(parts, "gemma2", _NAMES),
        **write_blocks(parts),
        "attn_logit_softcapping": parts.attention.score_cap,
        "sliding_window": window_of(parts),
        "rope_parameters": write_rotary(parts.rotary),
    }


def table(spec: Spec) -> Table:
    return decoder_table(spec, MATRICES + SANDWICH)


GEMMA2 = Family("gemma2", _NAMES, translate, to_config, table)
