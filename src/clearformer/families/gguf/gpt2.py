"""llama.cpp's `gpt2`: Conv1D's matrices turned around, query, key and value in one."""

from __future__ import annotations

from clearformer.checkpoint.renames import Ignored, Row, Same, Split, Table, Tied
from clearformer.checkpoint.tensor_file import TensorFile
from clearformer.families import gpt2
from clearformer.families.config_reader import ConfigReader
from clearformer.families.gguf.form import GGUFForm, Said
from clearformer.families.gguf.values import decimal, rows_of
from clearformer.spec import Attention, DecoderOnly, Dense, LayerNorm, Spec, Tokens

_NAMES = (
    ("attn_norm", "attention_norm"),
    ("ffn_norm", "feedforward_norm"),
    ("attn_output", "attention.output"),
    ("ffn_up", "feedforward.up"),
    ("ffn_down", "feedforward.down"),
)


def table(spec: Spec) -> Table:
    assert isinstance(spec, DecoderOnly)
    block, sizes = "decoder.blocks.{i}", (spec.decoder.width,) * 3
    rows: list[Row | Tied | Ignored] = [
        Same("token_embd.weight", "decoder.embed.token.weight"),
        Same("position_embd.weight", "decoder.embed.position.weight"),
        Same("output.weight", "head.project.weight"),
    ]
    for kind in ("weight", "bias"):
        fused = tuple(f"{block}.attention.{part}.{kind}" for part in ("query", "key", "value"))
        rows += [
            Split(f"blk.{{i}}.attn_qkv.{kind}", fused, sizes),
            *(Same(f"blk.{{i}}.{theirs}.{kind}", f"{block}.{ours}.{kind}") for theirs, ours in _NAMES),
            Same(f"output_norm.{kind}", f"decoder.final_norm.{kind}"),
        ]
    return tuple(rows)


def _translate(metadata: ConfigReader, tensors: TensorFile) -> Spec:
    heads = metadata.whole("gpt2.attention.head_count")
    metadata.only("gpt2.attention.head_count_kv", heads)
    config = {
        "n_embd": metadata.whole("gpt2.embedding_length"),
        "n_head": heads,
        "n_layer": metadata.whole("gpt2.block_count"),
        "n_positions": metadata.whole("gpt2.context_length"),
        "n_inner": metadata.whole("gpt2.feed_forward_length"),
        "layer_norm_epsilon": decimal(metadata.number("gpt2.attention.layer_norm_epsilon")),
        "vocab_size": metadata.whole("gpt2.vocab_size", rows_of(tensors, "token_embd.weight")),
        "tie_word_embeddings": "output.weight" not in tensors.names(),
    }
    return gpt2.translate(ConfigReader(config, tensors.path), "GPT2LMHeadModel")


def _describe(spec: Spec) -> Said | None:
    if not isinstance(spec, DecoderOnly) or not spec.decoder.blocks:
        return None
    block, norm, tokens = spec.decoder.blocks[0], spec.decoder.final_norm, spec.decoder.input
    attention, feedforward = block.attention, block.feedforward
    if not isinstance(norm, LayerNorm) or not isinstance(tokens, Tokens):
        return None
    if not isinstance(attention, Attention) or not isinstance(feedforward, Dense):
        return None
    return Said(
        {
            "gpt2.vocab_size": tokens.vocabulary,
            "gpt2.context_length": spec.context,
            "gpt2.embedding_length": spec.decoder.width,
            "gpt2.block_count": len(spec.decoder.blocks),
            "gpt2.feed_forward_length": feedforward.width,
            "gpt2.attention.head_count": attention.heads,
            "gpt2.attention.layer_norm_epsilon": norm.eps,
        }
    )


GPT2 = GGUFForm("gpt2", _translate, _describe, table)
