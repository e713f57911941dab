"""llama.cpp's `bert`: the encoder alone, and which of its vectors stand for a sentence."""

from __future__ import annotations

import dataclasses

from clearformer.checkpoint.renames import Ignored, Row, Same, Split, Table, Tied
from clearformer.checkpoint.tensor_file import TensorFile
from clearformer.families import bert
from clearformer.families.bert_encoder import MATRICES, NORMS
from clearformer.families.config_reader import ConfigReader
from clearformer.families.gguf.form import GGUFForm, Said
from clearformer.families.gguf.values import decimal, rows_of
from clearformer.spec import (
    Attention,
    Dense,
    EncoderOnly,
    First,
    Head,
    Hidden,
    Last,
    LayerNorm,
    Mean,
    Pooling,
    Spec,
    Tokens,
    Vector,
)

_POOLING: dict[int, Head] = {
    0: Hidden(),
    1: Vector(Pooling(Mean())),
    2: Vector(Pooling(First())),
    3: Vector(Pooling(Last())),
}


def table(spec: Spec) -> Table:
    assert isinstance(spec, EncoderOnly)
    block = "encoder.blocks.{i}"
    rows: list[Row | Tied | Ignored] = [
        Same("token_embd.weight", "encoder.embed.token.weight"),
        Same("position_embd.weight", "encoder.embed.position.weight"),
        Same("token_types.weight", "encoder.embed.segment.weight"),
    ]
    for kind in ("weight", "bias"):
        fused = tuple(f"{block}.attention.{part}.{kind}" for part in ("query", "key", "value"))
        rows += [
            Same(f"token_embd_norm.{kind}", f"encoder.embed.norm.{kind}"),
            *(Same(f"blk.{{i}}.{theirs}.{kind}", f"{block}.{ours}.{kind}") for _, theirs, ours in MATRICES + NORMS),
            Split(f"blk.{{i}}.attn_qkv.{kind}", fused, (spec.encoder.width,) * 3),
        ]
    return tuple(rows)


def _translate(metadata: ConfigReader, tensors: TensorFile) -> Spec:
    heads = metadata.whole("bert.attention.head_count")
    metadata.only("bert.attention.head_count_kv", heads)
    config = {
        "hidden_size": metadata.whole("bert.embedding_length"),
        "num_attention_heads": heads,
        "num_hidden_layers": metadata.whole("bert.block_count"),
        "max_position_embeddings": metadata.whole("bert.context_length"),
        "intermediate_size": metadata.whole("bert.feed_forward_length"),
        "layer_norm_eps": decimal(metadata.number("bert.attention.layer_norm_epsilon")),
        "vocab_size": metadata.whole("bert.vocab_size", rows_of(tensors, "token_embd.weight")),
        "type_vocab_size": rows_of(tensors, "token_types.weight"),
    }
    metadata.only("bert.attention.causal", False)
    kind = metadata.whole("bert.pooling_type", 0, at_least=0)
    if kind not in _POOLING:
        metadata.cannot_say("bert.pooling_type", "0 | 1 | 2 | 3", kind)
    spec = bert.translate(ConfigReader(config, tensors.path), "BertModel")
    assert isinstance(spec, EncoderOnly)
    return dataclasses.replace(spec, head=_POOLING[kind])


def _describe(spec: Spec) -> Said | None:
    """A head that is none of the poolings is found when the file is read back: llama.cpp has none besides."""
    if not isinstance(spec, EncoderOnly) or not spec.encoder.blocks:
        return None
    block, tokens = spec.encoder.blocks[0], spec.encoder.input
    attention, feedforward, norm = block.attention, block.feedforward, block.attention_norm
    if not isinstance(tokens, Tokens) or not isinstance(norm, LayerNorm):
        return None
    if not isinstance(attention, Attention) or not isinstance(feedforward, Dense):
        return None
    return Said(
        {
            "bert.vocab_size": tokens.vocabulary,
            "bert.context_length": spec.context,
            "bert.embedding_length": spec.encoder.width,
            "bert.block_count": len(spec.encoder.blocks),
            "bert.feed_forward_length": feedforward.width,
            "bert.attention.head_count": attention.heads,
            "bert.attention.layer_norm_epsilon": norm.eps,
            "bert.attention.causal": False,
            "bert.pooling_type": next((kind for kind, head in _POOLING.items() if head == spec.head), 0),
            "tokenizer.ggml.token_type_count": tokens.segments,
        }
    )


BERT = GGUFForm("bert", _translate, _describe, table)
