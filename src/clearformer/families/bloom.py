"""BLOOM (Le Scao et al. 2022, arXiv 2211.05100): a norm behind the embedding, and distances in place of positions.

transformers adds slope · j where ours subtracts slope · (i − j): a constant a row apart, which the softmax loses. Both
count the real tokens alone, so padding on the left changes nothing.
"""

from __future__ import annotations

from dataclasses import replace

from clearformer.checkpoint.renames import Ignored, Row, Same, Table, Tied
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.family import Family
from clearformer.families.fused_attention import fused_attention_rows
from clearformer.families.heads import decoder_classes, decoder_head_rows, read_decoder_head, stems, write_head
from clearformer.families.multi_head import multi_head
from clearformer.families.pretrained_config import require_decoder
from clearformer.spec import (
    ALiBi,
    Attention,
    Biases,
    Block,
    DecoderOnly,
    Dense,
    LayerNorm,
    Normal,
    Spec,
    Stack,
    Tokens,
)

_CLASSES = decoder_classes("Bloom")
# How the first release computed: in which order it summed, what it fused, where its mask stood.
_COMPUTING = (
    "attention_softmax_in_fp32",
    "bias_dropout_fusion",
    "masked_softmax_fusion",
    "offset_alibi",
    "pretraining_tp",
    "skip_bias_add",
    "skip_bias_add_qkv",
    "slow_but_exact",
)


def translate(config: ConfigReader, architecture: str) -> Spec:
    width_key, width = config.whole_under("n_embed", "hidden_size")
    heads_key, heads = config.whole_under("n_head", "num_attention_heads")
    _, layers = config.whole_under("n_layer", "num_hidden_layers", limit=MAX_LAYERS)
    config.only("n_inner", 4 * width)
    config.only("apply_residual_connection_post_layernorm", False)
    require_decoder(config)
    config.harmless(_COMPUTING)
    norm = LayerNorm(config.number("layer_norm_epsilon", 1e-5))
    block = Block(
        attention=replace(
            multi_head(config, width, heads, (width_key, heads_key)),
            position=ALiBi(),
            bias=Biases.everywhere(),
            dropout=config.number("attention_dropout", 0.0),
        ),
        feedforward=Dense(4 * width, "gelu_tanh"),
        attention_norm=norm,
        feedforward_norm=norm,
        dropout=config.number("hidden_dropout", 0.0),
    )
    return DecoderOnly(
        decoder=Stack(width, Tokens(config.whole("vocab_size"), norm=norm), (block,) * layers, final_norm=norm),
        head=read_decoder_head(config, architecture, _CLASSES, tied=True),
        # The trained length, which transformers does not ask for: every published size has this one.
        context=config.whole("seq_length", 2048),
        initial=Normal(config.number("initializer_range", 0.02), residual_scaled=False),
    )


def to_config(spec: Spec) -> dict[str, object] | None:
    if not isinstance(spec, DecoderOnly) or not isinstance(spec.decoder.input, Tokens) or not spec.decoder.blocks:
        return None
    block, norm = spec.decoder.blocks[0], spec.decoder.final_norm
    if not (isinstance(block.attention, Attention) and isinstance(norm, LayerNorm)):
        return None
    return {
        "model_type": "bloom",
        "vocab_size": spec.decoder.input.vocabulary,
        "hidden_size": spec.decoder.width,
        "n_layer": len(spec.decoder.blocks),
        "n_head": block.attention.heads,
        "seq_length": spec.context,
        "layer_norm_epsilon": norm.eps,
        "attention_dropout": block.attention.dropout,
        "hidden_dropout": block.dropout,
        **write_head(spec.head, _CLASSES),
    }


_LAYER = (
    ("self_attention.dense", "attention.output"),
    ("mlp.dense_h_to_4h", "feedforward.up"),
    ("mlp.dense_4h_to_h", "feedforward.down"),
    ("input_layernorm", "attention_norm"),
    ("post_attention_layernorm", "feedforward_norm"),
)


def table(spec: Spec) -> Table:
    assert isinstance(spec, DecoderOnly)
    rows: list[Row | Tied | Ignored] = []
    # The Hub's own sizes have bare names.
    for stem in stems(spec.head, "transformer."):
        layer, block = f"{stem}h.{{i}}", "decoder.blocks.{i}"
        rows.append(Same(f"{stem}word_embeddings.weight", "decoder.embed.token.weight"))
        fused = f"{layer}.self_attention.query_key_value"
        rows += fused_attention_rows(fused, f"{block}.attention", spec.decoder, by_head=True)
        for kind in ("weight", "bias"):
            rows += [Same(f"{layer}.{theirs}.{kind}", f"{block}.{ours}.{kind}") for theirs, ours in _LAYER]
            rows += [
                Same(f"{stem}word_embeddings_layernorm.{kind}", f"decoder.embed.norm.{kind}"),
                Same(f"{stem}ln_f.{kind}", f"decoder.final_norm.{kind}"),
            ]
    tables = (f"{stem}word_embeddings.weight" for stem in stems(spec.head, "transformer."))
    return (*rows, *decoder_head_rows(spec.head, tables))


BLOOM = Family("bloom", _CLASSES, translate, to_config, table)
