"""Phi-3 (Microsoft 2024, arXiv 2404.14219) and Phi-4: Llama's block with fused matrices, stretched by LongRoPE."""

from __future__ import annotations

from dataclasses import replace

from clearformer.checkpoint.renames import Table
from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family
from clearformer.families.gated_decoder import (
    DOWN,
    NORMS,
    OUTPUT,
    QUERY_KEY_VALUE,
    Fused,
    Unsaid,
    decoder_table,
    fused_gate,
    parts_of,
    read_attention,
    read_decoder,
    read_gated,
    read_layers,
    read_norm,
    read_tokens,
    write_decoder,
    write_gated,
)
from clearformer.families.heads import decoder_classes
from clearformer.families.layer_kinds import read_window, write_window
from clearformer.families.rope import RopeDialect, write_rotary
from clearformer.spec import Biases, Block, Causal, LongRoPE, Spec

_CLASSES = decoder_classes("Phi3")
_ORIGINAL = "original_max_position_embeddings"
# Its first configs say su or yarn, and mean LongRoPE by either.
_SCALINGS = {"default": "default", "longrope": "longrope", "su": "longrope", "yarn": "longrope"}


def translate(config: ConfigReader, architecture: str) -> Spec:
    dialect = RopeDialect(part=1.0, original=config.whole(_ORIGINAL, 4096), kinds=_SCALINGS)
    attention, norm = read_attention(config, Biases(), Unsaid(rope=dialect)), read_norm(config, 1e-5)
    # It checks LongRoPE's divisors against D / heads, so that no other head width is of use.
    config.only("head_dim", config.whole("hidden_size") // attention.heads)
    block = Block(
        replace(attention, visibility=Causal(read_window(config))),
        read_gated(config),
        norm,
        norm,
        dropout=config.number("resid_pdrop", 0.0),
    )
    _require_plain(config)
    tokens = replace(read_tokens(config), dropout=config.number("embd_pdrop", 0.0))
    return read_decoder(config, architecture, _CLASSES, [block] * read_layers(config), tokens=tokens)


def _require_plain(config: ConfigReader) -> None:
    """Keys of Microsoft's own code, which the published sizes share with its larger relatives."""
    for key in ("attention_bias", "mlp_bias", "lm_head_bias"):
        config.only(key, False)
    for key in ("full_attn_mod", "interpolate_factor"):
        config.only(key, 1)


def to_config(spec: Spec) -> dict[str, object] | None:
    if (parts := parts_of(spec)) is None or parts.gated is None:
        return None
    scaling = parts.rotary.scaling
    return {
        **write_decoder(parts, "phi3", _CLASSES),
        **write_gated(parts.gated),
        **write_window(parts.attentions),
        "resid_pdrop": parts.stack.blocks[0].dropout,
        "embd_pdrop": parts.tokens.dropout,
        _ORIGINAL: scaling.original_length if isinstance(scaling, LongRoPE) else parts.spec.context,
        "rope_parameters": write_rotary(parts.rotary, parts.attention.key_width),
    }


def table(spec: Spec) -> Table:
    parts = parts_of(spec)
    assert parts is not None
    assert parts.gated is not None
    attention = parts.attention
    queries, keys = attention.heads * attention.key_width, attention.kv_heads * attention.key_width
    fused = Fused("self_attn.qkv_proj", QUERY_KEY_VALUE, (queries, keys, keys))
    return decoder_table(spec, OUTPUT + DOWN + NORMS, (fused, fused_gate(parts.gated.width)))


PHI3 = Family("phi3", _CLASSES, translate, to_config, table)
