"""BERT's encoder (Devlin et al. 2018, arXiv 1810.04805), which RoBERTa keeps: its config keys, its tensors' names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from clearformer.checkpoint.renames import Fallback, Ignored, Row, Same, Tied
from clearformer.families.activations import ACTIVATIONS, foreign_name
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.heads import vocabulary_rows
from clearformer.families.multi_head import read_multi_head
from clearformer.families.pretrained_config import require_encoder
from clearformer.spec import (
    Attention,
    Biases,
    Block,
    Dense,
    Full,
    Language,
    LayerNorm,
    Learned,
    Sequential,
    Stack,
    Tokens,
)


def read_encoder(config: ConfigReader, position: Learned) -> Stack:
    """The embeddings and the post-norm blocks; `position` is what the family makes of max_position_embeddings."""
    width, attention = read_multi_head(config)
    norm = LayerNorm(config.number("layer_norm_eps", 1e-12))
    dropout = config.number("hidden_dropout_prob", 0.1)
    block = Block(
        attention=replace(
            attention,
            visibility=Full(),
            bias=Biases.everywhere(),
            dropout=config.number("attention_probs_dropout_prob", 0.1),
        ),
        feedforward=Dense(config.whole("intermediate_size"), config.choice("hidden_act", ACTIVATIONS, "gelu")),
        attention_norm=norm,
        feedforward_norm=norm,
        arrangement=Sequential("post"),
        dropout=dropout,
    )
    tokens = Tokens(
        config.whole("vocab_size"),
        position,
        segments=config.whole("type_vocab_size", 2),
        norm=norm,
        dropout=dropout,
    )
    config.only("position_embedding_type", "absolute")
    require_encoder(config)
    return Stack(width, tokens, (block,) * config.whole("num_hidden_layers", limit=MAX_LAYERS))


def write_encoder(stack: Stack) -> dict[str, object] | None:
    """The keys that `read_encoder` reads; None for a stack that is of another kind."""
    if not isinstance(stack.input, Tokens) or not stack.blocks:
        return None
    block = stack.blocks[0]
    attention, feedforward, norm = block.attention, block.feedforward, block.attention_norm
    if not (isinstance(attention, Attention) and isinstance(feedforward, Dense) and isinstance(norm, LayerNorm)):
        return None
    return {
        "vocab_size": stack.input.vocabulary,
        "hidden_size": stack.width,
        "intermediate_size": feedforward.width,
        "num_hidden_layers": len(stack.blocks),
        "num_attention_heads": attention.heads,
        "hidden_act": foreign_name(feedforward.activation),
        "type_vocab_size": max(stack.input.segments, 1),
        "layer_norm_eps": norm.eps,
        "hidden_dropout_prob": block.dropout,
        "attention_probs_dropout_prob": attention.dropout,
    }


_EMBED = (
    ("word_embeddings", "token"),
    ("position_embeddings", "position"),
    ("token_type_embeddings", "segment"),
)
MATRICES = (
    # theirs, llama.cpp's, ours
    ("attention.self.query", "attn_q", "attention.query"),
    ("attention.self.key", "attn_k", "attention.key"),
    ("attention.self.value", "attn_v", "attention.value"),
    ("attention.output.dense", "attn_output", "attention.output"),
    ("intermediate.dense", "ffn_up", "feedforward.up"),
    ("output.dense", "ffn_down", "feedforward.down"),
)
NORMS = (
    ("attention.output.LayerNorm", "attn_output_norm", "attention_norm"),
    ("output.LayerNorm", "layer_output_norm", "feedforward_norm"),
)
# TensorFlow's names, which the first checkpoints still have.
NORM_PARTS = (("weight", "weight"), ("bias", "bias"), ("gamma", "weight"), ("beta", "bias"))


def encoder_rows(stem: str) -> list[Row | Tied | Ignored]:
    layer, block = f"{stem}encoder.layer.{{i}}", "encoder.blocks.{i}"
    rows: list[Row | Tied | Ignored] = [
        Same(f"{stem}embeddings.{theirs}.weight", f"encoder.embed.{ours}.weight") for theirs, ours in _EMBED
    ]
    for part, ours_part in NORM_PARTS:
        rows.append(Same(f"{stem}embeddings.LayerNorm.{part}", f"encoder.embed.norm.{ours_part}"))
        rows += [Same(f"{layer}.{theirs}.{part}", f"{block}.{ours}.{ours_part}") for theirs, _, ours in NORMS]
    for kind in ("weight", "bias"):
        rows += [Same(f"{layer}.{theirs}.{kind}", f"{block}.{ours}.{kind}") for theirs, _, ours in MATRICES]
    return rows


def decoder_rows(head: Language, stem: str, tables: Iterable[str]) -> list[Row | Tied | Ignored]:
    """The masked-language head's last product: its bias stands beside `decoder`, and once more inside it."""
    product = vocabulary_rows(head, f"{stem}.decoder.weight", tables, "encoder.embed.token.weight")
    if head.tied:
        inner = f"{stem}.decoder.bias"
        return [Same(f"{stem}.bias", "head.bias"), Fallback(inner, "head.bias"), Tied(inner, f"{stem}.bias"), *product]
    return [
        Same(f"{stem}.decoder.bias", "head.bias"),
        *product,
        Ignored(f"{stem}.bias", "the tied bias, which an untied decoder does not read"),
    ]
