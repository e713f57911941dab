"""GPT-NeoX (Black et al. 2022, arXiv 2204.06745), and Pythia, which keeps its form (Biderman et al. 2023,
arXiv 2304.01373)."""

from __future__ import annotations

from dataclasses import replace

from clearformer.checkpoint.renames import Ignored, Row, Same, Table, Tied
from clearformer.families.activations import ACTIVATIONS, foreign_name
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.family import Family
from clearformer.families.fused_attention import fused_attention_rows
from clearformer.families.heads import (
    decoder_classes,
    decoder_head_rows,
    read_decoder_head,
    stems,
    vocabulary_rows,
    write_head,
)
from clearformer.families.multi_head import read_multi_head
from clearformer.families.pretrained_config import require_decoder
from clearformer.families.rope import RopeDialect, read_rotary, stretched, write_rotary, written_length
from clearformer.spec import (
    Attention,
    Biases,
    Block,
    DecoderOnly,
    Dense,
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

_CLASSES = decoder_classes("GPTNeoX")
_PART = "partial_rotary_factor"
# Versions of transformers between its own names and `rope_parameters` wrote both.
_DIALECT = RopeDialect(part=0.25, base_keys=("rotary_emb_base", "rope_theta"), part_keys=("rotary_pct", _PART))


def translate(config: ConfigReader, architecture: str) -> Spec:
    width, attention = read_multi_head(config)
    length = config.whole("max_position_embeddings")
    rotary = read_rotary(config, length, attention.key_width, _DIALECT)
    norm = LayerNorm(config.number("layer_norm_eps", 1e-5))
    dropout = config.number("hidden_dropout", 0.0)
    block = Block(
        attention=replace(
            attention,
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
    require_decoder(config)
    # Of a head that labels single tokens, which is not read here.
    config.harmless(("classifier_dropout",))
    layers = config.whole("num_hidden_layers", limit=MAX_LAYERS)
    tokens = Tokens(config.whole("vocab_size"), dropout=dropout)
    return DecoderOnly(
        decoder=Stack(width, tokens, (block,) * layers, final_norm=norm),
        head=read_decoder_head(config, architecture, _CLASSES, tied=False),
        context=stretched(rotary, length),
        initial=Normal(config.number("initializer_range", 0.02), residual_scaled=False),
    )


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
        "rope_parameters": write_rotary(rotary, attention.key_width),
        "attention_bias": attention.bias.query,
        "use_parallel_residual": isinstance(block.arrangement, Parallel),
        "attention_dropout": attention.dropout,
        "hidden_dropout": block.dropout,
        **write_head(spec.head, _CLASSES),
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
    rows: list[Row | Tied | Ignored] = []
    for stem in stems(spec.head, "gpt_neox."):
        layer, block = f"{stem}layers.{{i}}", "decoder.blocks.{i}"
        rows.append(Same(f"{stem}embed_in.weight", "decoder.embed.token.weight"))
        fused = f"{layer}.attention.query_key_value"
        rows += fused_attention_rows(fused, f"{block}.attention", spec.decoder, by_head=True)
        for kind in ("weight", "bias"):
            rows += [Same(f"{layer}.{theirs}.{kind}", f"{block}.{ours}.{kind}") for theirs, ours in _LAYER]
            rows.append(Same(f"{stem}final_layer_norm.{kind}", f"decoder.final_norm.{kind}"))
    rows += [
        Ignored("*.attention.bias", "the causal mask, kept as a buffer by old versions"),
        Ignored("*.attention.masked_bias", "the number that masked scores were set to"),
        Ignored("*.rotary_emb.inv_freq", "frequencies that the config gives, kept by old versions"),
    ]
    # The Hub's name of the head; transformers 5 has another in memory, and goes on writing this one.
    tables = [f"{stem}embed_in.weight" for stem in stems(spec.head, "gpt_neox.")]
    if isinstance(spec.head, Language):
        rows += vocabulary_rows(spec.head, "embed_out.weight", tables, "decoder.embed.token.weight")
    return (*rows, *decoder_head_rows(spec.head, tables))


GPT_NEOX = Family("gpt_neox", _CLASSES, translate, to_config, table)
