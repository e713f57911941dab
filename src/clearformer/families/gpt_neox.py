"""GPT-NeoX (Black et al. 2022, arXiv 2204.06745), and Pythia, which keeps its form (Biderman et al. 2023,
arXiv 2304.01373)."""

from __future__ import annotations

import math
from dataclasses import replace

from clearformer.checkpoint.renames import Ignored, Row, Same, Table, Tied
from clearformer.families.activations import ACTIVATIONS, foreign_name
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.decoder_heads import decoder_classes, read_decoder_head, write_decoder_head
from clearformer.families.family import Family
from clearformer.families.fused_heads import fused_head_rows
from clearformer.families.heads import decoder_head_rows
from clearformer.families.rope import DEFAULT_BASE, read_rotary, stretched, write_rotary, written_length
from clearformer.messages import families as say
from clearformer.spec import (
    Attention,
    Biases,
    Block,
    DecoderOnly,
    Dense,
    Hidden,
    Language,
    LayerNorm,
    Normal,
    Parallel,
    Rotary,
    Sequential,
    Spec,
    Stack,
    Tokens,
)

_STEM = "GPTNeoX"
_SHARE = "partial_rotary_factor"


def translate(config: ConfigReader, architecture: str) -> Spec:
    width, heads = config.whole("hidden_size"), config.whole("num_attention_heads")
    if width % heads:
        config.contradiction("hidden_size", "num_attention_heads", say.HEADS_DO_NOT_DIVIDE_WIDTH)
    key_width = width // heads
    length = config.whole("max_position_embeddings")
    rotary = _read_rotary(config, length, key_width)
    norm = LayerNorm(config.number("layer_norm_eps", 1e-5))
    dropout = config.number("hidden_dropout", 0.0)
    block = Block(
        attention=Attention(
            heads,
            heads,
            key_width,
            key_width,
            position=rotary,
            bias=Biases.everywhere() if config.flag("attention_bias", True) else Biases(),
            dropout=config.number("attention_dropout", 0.0),
        ),
        feedforward=Dense(config.whole("intermediate_size"), config.choice("hidden_act", ACTIVATIONS, "gelu")),
        attention_norm=norm,
        feedforward_norm=norm,
        arrangement=Parallel() if config.flag("use_parallel_residual", True) else Sequential("pre"),
        dropout=dropout,
    )
    config.only("is_decoder", False, True)
    config.only("is_encoder_decoder", False)
    # Of a head that labels single tokens, which is not read here.
    config.harmless(("classifier_dropout",))
    layers = config.whole("num_hidden_layers", limit=MAX_LAYERS)
    tokens = Tokens(config.whole("vocab_size"), dropout=dropout)
    return DecoderOnly(
        decoder=Stack(width, tokens, (block,) * layers, final_norm=norm),
        head=read_decoder_head(config, architecture, tied=False),
        context=stretched(rotary, length),
        initial=Normal(config.number("initializer_range", 0.02), residual_scaled=False),
    )


def _read_rotary(config: ConfigReader, length: int, key_width: int) -> Rotary:
    """NeoX has its own names for the base and for the share of a head that is turned, one quarter by default.

    Versions of transformers between the old names and `rope_parameters` wrote both.
    """
    base, share = config.number("rotary_emb_base", DEFAULT_BASE), config.number("rotary_pct", 0.25)
    for own, common, value in (("rotary_emb_base", "rope_theta", base), ("rotary_pct", _SHARE, share)):
        if config.number(common, value) != value:
            config.contradiction(own, common, say.SYNONYMS_DIFFER)
    plain: dict[str, object] = {"rope_theta": config.raw("rotary_emb_base")}
    for key in ("rope_parameters", "rope_scaling"):
        section = config.raw(key)
        if isinstance(section, dict) and _SHARE in section:
            inner = ConfigReader(section, config.path, f"{key}.")
            found = inner.number(_SHARE, share)
            if config.has("rotary_pct") and found != share:
                inner.contradiction(_SHARE, _SHARE, say.OUTER_DIFFERS, key="rotary_pct", outer=share)
            share = found
            section = {name: value for name, value in section.items() if name != _SHARE}
        plain[key] = section
    # What is left has the words of every other family.
    reader = ConfigReader(plain, config.path)
    rotary = read_rotary(reader, length)
    reader.finish()
    turned = int(key_width * share)
    return rotary if turned == key_width else replace(rotary, width=turned)


def _share_of(turned: int, key_width: int) -> float:
    """The share of which the whole part of `key_width` times it is `turned`, in floating-point numbers too."""
    share = turned / key_width
    return share if int(key_width * share) == turned else math.nextafter(share, math.inf)


def to_config(spec: Spec) -> dict[str, object] | None:
    if not isinstance(spec, DecoderOnly) or not isinstance(spec.decoder.input, Tokens) or not spec.decoder.blocks:
        return None
    block, norm = spec.decoder.blocks[0], spec.decoder.final_norm
    attention, feedforward = block.attention, block.feedforward
    if not (isinstance(attention, Attention) and isinstance(feedforward, Dense) and isinstance(norm, LayerNorm)):
        return None
    rotary = attention.position
    if not isinstance(rotary, Rotary):
        return None
    share = _share_of(rotary.rotated(attention.key_width), attention.key_width)
    return {
        "model_type": "gpt_neox",
        "vocab_size": spec.decoder.input.vocabulary,
        "hidden_size": spec.decoder.width,
        "intermediate_size": feedforward.width,
        "num_hidden_layers": len(spec.decoder.blocks),
        "num_attention_heads": attention.heads,
        "hidden_act": foreign_name(feedforward.activation),
        "max_position_embeddings": written_length(rotary, spec.context),
        "layer_norm_eps": norm.eps,
        "rope_parameters": write_rotary(rotary) | {_SHARE: share},
        "attention_bias": attention.bias.query,
        "use_parallel_residual": isinstance(block.arrangement, Parallel),
        "attention_dropout": attention.dropout,
        "hidden_dropout": block.dropout,
        **write_decoder_head(spec.head, _STEM),
    }


_LAYER = (
    ("attention.dense", "attention.output"),
    ("mlp.dense_h_to_4h", "feedforward.up"),
    ("mlp.dense_4h_to_h", "feedforward.down"),
    ("input_layernorm", "attention_norm"),
    ("post_attention_layernorm", "feedforward_norm"),
)


def table(spec: Spec) -> Table:
    assert isinstance(spec, DecoderOnly)
    stem = "" if isinstance(spec.head, Hidden) else "gpt_neox."
    layer, block = f"{stem}layers.{{i}}", "decoder.blocks.{i}"
    rows: list[Row | Tied | Ignored] = [
        Same(f"{stem}embed_in.weight", "decoder.embed.token.weight"),
        *fused_head_rows(f"{layer}.attention.query_key_value", f"{block}.attention", spec.decoder),
    ]
    for kind in ("weight", "bias"):
        rows += [Same(f"{layer}.{theirs}.{kind}", f"{block}.{ours}.{kind}") for theirs, ours in _LAYER]
        rows.append(Same(f"{stem}final_layer_norm.{kind}", f"decoder.final_norm.{kind}"))
    rows += [
        Ignored("*.attention.bias", "the causal mask, kept as a buffer by old versions"),
        Ignored("*.attention.masked_bias", "the number that masked scores were set to"),
        Ignored("*.rotary_emb.inv_freq", "frequencies that the config gives, kept by old versions"),
    ]
    # The Hub's name of the head; transformers 5 has another in memory, and goes on writing this one.
    match spec.head:
        case Language(tied=True):
            rows.append(Tied("embed_out.weight", f"{stem}embed_in.weight"))
        case Language():
            rows.append(Same("embed_out.weight", "head.project.weight"))
    return (*rows, *decoder_head_rows(spec.head, f"{stem}embed_in.weight"))


GPT_NEOX = Family("gpt_neox", decoder_classes(_STEM), translate, to_config, table)
