"""MPT (MosaicML 2023): no bias anywhere, not even in norms, and ALiBi in place of positions (arXiv 2108.12409)."""

from __future__ import annotations

from dataclasses import replace

from clearformer.checkpoint.renames import Ignored, Row, Same, Table, Tied
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.family import Family
from clearformer.families.fused_attention import fused_attention_rows
from clearformer.families.heads import decoder_classes, decoder_head_rows, read_decoder_head, stems, write_head
from clearformer.families.multi_head import multi_head
from clearformer.families.pretrained_config import HARMLESS, require_decoder
from clearformer.spec import (
    ALiBi,
    Attention,
    Block,
    DecoderOnly,
    Dense,
    LayerNorm,
    Normal,
    Spec,
    Stack,
    Tokens,
)

_CLASSES = decoder_classes("Mpt")
# The makers' own code spelt its class so, and it stands in their configs.
_FIRST_CLASS = "MPTForCausalLM"
# How the makers' trainer started and called the model; the share of the gradient that reaches the token table.
_OF_THE_TRAINER = (
    "embedding_fraction",
    "init_config",
    "init_device",
    "learned_pos_emb",  # Without effect beside ALiBi, which is always there.
    "tokenizer_name",
    "verbose",
)


def translate(config: ConfigReader, architecture: str) -> Spec:
    width_key, width = config.whole_under("d_model", "hidden_size")
    heads_key, heads = config.whole_under("n_heads", "num_attention_heads")
    _, layers = config.whole_under("n_layers", "num_hidden_layers", limit=MAX_LAYERS)
    attention = multi_head(config, width, heads, (width_key, heads_key))
    config.only("no_bias", True)
    # The one ratio that transformers builds, whatever the key says.
    config.only("expansion_ratio", 4)
    config.only("norm_type", "low_precision_layernorm", "layernorm")
    config.only("logit_scale", None)
    require_decoder(config)
    config.harmless(_OF_THE_TRAINER)
    norm = LayerNorm(config.number("layer_norm_epsilon", 1e-5), bias=False)
    block = Block(
        attention=_read_attention(config.section("attn_config") or ConfigReader({}, config.path), attention),
        feedforward=Dense(4 * width, "gelu", bias=False),
        attention_norm=norm,
        feedforward_norm=norm,
        dropout=config.number("resid_pdrop", 0.0),
    )
    tokens = Tokens(config.whole("vocab_size"), dropout=config.number("emb_pdrop", 0.0))
    return DecoderOnly(
        decoder=Stack(width, tokens, (block,) * layers, final_norm=norm),
        head=read_decoder_head(config, architecture, _CLASSES, tied=True),
        context=config.whole("max_seq_len", 2048),
        initial=Normal(config.number("initializer_range", 0.02), residual_scaled=False),
    )


def _read_attention(section: ConfigReader, plain: Attention) -> Attention:
    section.only("alibi", True)
    section.only("attn_type", "multihead_attention")
    section.only("clip_qkv", None)
    for key in ("prefix_lm", "qk_ln", "attn_uses_sequence_id", "is_encoder_decoder"):
        section.only(key, False)
    # The makers' code has slopes of any range; transformers computes with this one, whatever the key says.
    section.only("alibi_bias_max", 8, 8.0)
    # Which kernel computes the same product; what transformers writes into every config, this one too.
    section.harmless(("attn_impl", *HARMLESS))
    return replace(
        plain,
        position=ALiBi(),
        scale=section.number("softmax_scale") if section.has("softmax_scale") else None,
        dropout=section.number("attn_pdrop", 0.0),
    )


def to_config(spec: Spec) -> dict[str, object] | None:
    if not isinstance(spec, DecoderOnly) or not isinstance(spec.decoder.input, Tokens) or not spec.decoder.blocks:
        return None
    block, norm = spec.decoder.blocks[0], spec.decoder.final_norm
    attention = block.attention
    if not (isinstance(attention, Attention) and isinstance(norm, LayerNorm)):
        return None
    return {
        "model_type": "mpt",
        "vocab_size": spec.decoder.input.vocabulary,
        "d_model": spec.decoder.width,
        "n_heads": attention.heads,
        "n_layers": len(spec.decoder.blocks),
        "max_seq_len": spec.context,
        "layer_norm_epsilon": norm.eps,
        "learned_pos_emb": False,
        "emb_pdrop": spec.decoder.input.dropout,
        "resid_pdrop": block.dropout,
        "attn_config": {
            "alibi": True,
            # transformers takes a whole number alone.
            "attn_pdrop": attention.dropout or 0,
            "softmax_scale": attention.scale,
        },
        **write_head(spec.head, _CLASSES),
    }


_LAYER = (
    ("attn.out_proj", "attention.output"),
    ("ffn.up_proj", "feedforward.up"),
    ("ffn.down_proj", "feedforward.down"),
    ("norm_1", "attention_norm"),
    ("norm_2", "feedforward_norm"),
)


def table(spec: Spec) -> Table:
    assert isinstance(spec, DecoderOnly)
    rows: list[Row | Tied | Ignored] = []
    for stem in stems(spec.head, "transformer."):
        layer, block = f"{stem}blocks.{{i}}", "decoder.blocks.{i}"
        rows += [
            Same(f"{stem}wte.weight", "decoder.embed.token.weight"),
            *fused_attention_rows(f"{layer}.attn.Wqkv", f"{block}.attention", spec.decoder),
            *(Same(f"{layer}.{theirs}.weight", f"{block}.{ours}.weight") for theirs, ours in _LAYER),
            Same(f"{stem}norm_f.weight", "decoder.final_norm.weight"),
        ]
    tables = (f"{stem}wte.weight" for stem in stems(spec.head, "transformer."))
    return (*rows, *decoder_head_rows(spec.head, tables))


MPT = Family("mpt", (*_CLASSES, _FIRST_CLASS), translate, to_config, table)
