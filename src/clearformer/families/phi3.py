"""Phi-3 (Microsoft 2024, arXiv 2404.14219) and Phi-4: Llama's block with fused matrices, stretched by LongRoPE."""

from __future__ import annotations

from clearformer.checkpoint.renames import Table
from clearformer.families.activations import ACTIVATIONS, foreign_name
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.decoder_heads import read_decoder_head
from clearformer.families.family import Family
from clearformer.families.layer_kinds import reach_of, read_window
from clearformer.families.rms_decoder import (
    DOWN,
    OUTPUT,
    PRE_NORMS,
    QUERY_KEY_VALUE,
    Fused,
    Names,
    decoder_table,
    fused_gate,
    parts_of,
    read_heads,
    read_initial,
    write_sizes,
)
from clearformer.families.rope import RopeDialect, read_rotary, stretched, write_rotary
from clearformer.spec import (
    Attention,
    Block,
    Causal,
    DecoderOnly,
    Gated,
    LongRoPE,
    RMSNorm,
    Spec,
    Stack,
    Tokens,
)

_NAMES = Names("Phi3ForCausalLM", "Phi3Model", "Phi3ForSequenceClassification")
_ORIGINAL = "original_max_position_embeddings"
# Its first configs say su or yarn, and mean LongRoPE by either.
_SCALINGS = {"default": "default", "longrope": "longrope", "su": "longrope", "yarn": "longrope"}


def translate(config: ConfigReader, architecture: str) -> Spec:
    width, length = config.whole("hidden_size"), config.whole("max_position_embeddings")
    heads, kv_heads, key_width = read_heads(config, width)
    # It checks LongRoPE's divisors against D / heads, so that no other head width is of use.
    config.only("head_dim", width // heads)
    original = config.whole(_ORIGINAL, 4096)
    rotary = read_rotary(config, length, RopeDialect(head_width=key_width, original=original, kinds=_SCALINGS))
    norm = RMSNorm(config.number("rms_norm_eps", 1e-5))
    block = Block(
        attention=Attention(
            heads,
            kv_heads,
            key_width,
            key_width,
            visibility=Causal(read_window(config, None, wanted=False)),
            position=rotary,
            dropout=config.number("attention_dropout", 0.0),
        ),
        feedforward=Gated(config.whole("intermediate_size"), config.choice("hidden_act", ACTIVATIONS, "silu")),
        attention_norm=norm,
        feedforward_norm=norm,
        dropout=config.number("resid_pdrop", 0.0),
    )
    _require_plain(config)
    layers = config.whole("num_hidden_layers", limit=MAX_LAYERS)
    tokens = Tokens(config.whole("vocab_size"), dropout=config.number("embd_pdrop", 0.0))
    return DecoderOnly(
        decoder=Stack(width, tokens, (block,) * layers, final_norm=norm),
        head=read_decoder_head(config, architecture, tied=False),
        context=stretched(rotary, length),
        initial=read_initial(config),
    )


def _require_plain(config: ConfigReader) -> None:
    """Keys of Microsoft's own code, which the published sizes share with its larger relatives."""
    for key in ("attention_bias", "mlp_bias", "lm_head_bias"):
        config.only(key, False)
    for key in ("full_attn_mod", "interpolate_factor"):
        config.only(key, 1)


def to_config(spec: Spec) -> dict[str, object] | None:
    if (parts := parts_of(spec)) is None:
        return None
    scaling = parts.rotary.scaling
    original = scaling.original_length if isinstance(scaling, LongRoPE) else parts.context
    return {
        **write_sizes(parts, "phi3", _NAMES),
        "hidden_act": foreign_name(parts.feedforward.activation),
        "resid_pdrop": parts.blocks[0].dropout,
        "embd_pdrop": parts.tokens.dropout,
        "sliding_window": reach_of(parts.attention),
        _ORIGINAL: original,
        "rope_parameters": write_rotary(parts.rotary, parts.attention.key_width),
    }


def table(spec: Spec) -> Table:
    assert isinstance(spec, DecoderOnly)
    block = spec.decoder.blocks[0]
    attention, feedforward = block.attention, block.feedforward
    assert isinstance(attention, Attention)
    assert isinstance(feedforward, Gated)
    queries, keys = attention.heads * attention.key_width, attention.kv_heads * attention.key_width
    names = tuple(ours for _, ours in QUERY_KEY_VALUE)
    fused = Fused("self_attn.qkv_proj", names, (queries, keys, keys))
    return decoder_table(spec, OUTPUT + DOWN + PRE_NORMS, (fused, fused_gate(feedforward.width)))


PHI3 = Family("phi3", _NAMES, translate, to_config, table)
