"""The paper's encoder and decoder with biases everywhere, as BART and Marian share them: config keys and weight rows.

Vaswani et al. 2017 (arXiv 1706.03762); the names are fairseq's.
"""

from __future__ import annotations

import math
from dataclasses import replace

from clearformer.checkpoint.renames import OneRow, Row, Same, Zeros
from clearformer.families.activations import ACTIVATIONS, foreign_name
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.multi_head import read_multi_head
from clearformer.spec import (
    Attention,
    Biases,
    Block,
    Causal,
    Dense,
    EncoderDecoder,
    Full,
    InputPosition,
    Language,
    LayerNorm,
    Norm,
    Normal,
    Sequential,
    Stack,
    Tokens,
)

_NORM = LayerNorm(1e-5)


def read_tokens(config: ConfigReader, vocabulary: int, position: InputPosition, norm: Norm | None) -> Tokens:
    """What enters a stack; the two stacks differ in their vocabularies alone."""
    scaled = config.flag("scale_embedding", False)
    scale = math.sqrt(config.whole("d_model")) if scaled else 1.0
    return Tokens(vocabulary, position, scale=scale, norm=norm, dropout=config.number("dropout", 0.1))


def read_stack(config: ConfigReader, side: str, tokens: Tokens) -> Stack:
    """The `encoder` or the `decoder`, whichever `side` names."""
    decodes = side == "decoder"
    width, plain = read_multi_head(config, ("d_model", f"{side}_attention_heads"))
    sees_all = replace(
        plain, visibility=Full(), bias=Biases.everywhere(), dropout=config.number("attention_dropout", 0.0)
    )
    block = Block(
        attention=replace(sees_all, visibility=Causal()) if decodes else sees_all,
        feedforward=Dense(
            config.whole(f"{side}_ffn_dim"),
            config.choice("activation_function", ACTIVATIONS, "gelu"),
            dropout=config.number("activation_dropout", 0.0),
        ),
        attention_norm=_NORM,
        feedforward_norm=_NORM,
        cross_attention=sees_all if decodes else None,
        cross_norm=_NORM if decodes else None,
        arrangement=Sequential("post"),
        dropout=config.number("dropout", 0.1),
    )
    return Stack(width, tokens, (block,) * config.whole(f"{side}_layers", limit=MAX_LAYERS))


def read_initial(config: ConfigReader) -> Normal:
    """How training began."""
    return Normal(config.number("init_std", 0.02), residual_scaled=False)


def require_plain(config: ConfigReader) -> None:
    """What the first releases could choose otherwise, and what both families always are."""
    config.only("is_encoder_decoder", True)
    config.only("is_decoder", False)
    config.only("normalize_before", False)
    config.only("add_final_layer_norm", False)
    config.only("add_bias_logits", False)
    config.only("num_hidden_layers", config.whole("encoder_layers"))
    # Layers left out at random, in training alone.
    for side in ("encoder", "decoder"):
        config.only(f"{side}_layerdrop", 0.0, 0)
    config.harmless(("classifier_dropout", "classif_dropout", "num_labels", "force_bos_token_to_be_generated"))
    # How a smaller model was distilled from a larger one.
    config.harmless(("replacing_rate", "save_step", "student_decoder_layers", "student_encoder_layers"))


def write_stacks(spec: EncoderDecoder) -> dict[str, object] | None:
    """The keys of both stacks; None where their blocks are none of the paper's."""
    written: dict[str, object] = {}
    for side, stack in (("encoder", spec.encoder), ("decoder", spec.decoder)):
        if not stack.blocks or not isinstance(stack.input, Tokens):
            return None
        block = stack.blocks[0]
        attention, feedforward = block.attention, block.feedforward
        if not (isinstance(attention, Attention) and isinstance(feedforward, Dense)):
            return None
        written |= {
            f"{side}_layers": len(stack.blocks),
            f"{side}_attention_heads": attention.heads,
            f"{side}_ffn_dim": feedforward.width,
            f"{side}_layerdrop": 0.0,
            "d_model": stack.width,
            "activation_function": foreign_name(feedforward.activation),
            "scale_embedding": stack.input.scale != 1.0,
            "dropout": block.dropout,
            "attention_dropout": attention.dropout,
            "activation_dropout": feedforward.dropout,
        }
    return written | {"is_encoder_decoder": True, "max_position_embeddings": spec.context}


_ATTENTION = (("q_proj", "query"), ("k_proj", "key"), ("v_proj", "value"), ("out_proj", "output"))
_LAYER = (
    *((f"self_attn.{theirs}", f"attention.{ours}") for theirs, ours in _ATTENTION),
    ("self_attn_layer_norm", "attention_norm"),
    ("fc1", "feedforward.up"),
    ("fc2", "feedforward.down"),
    ("final_layer_norm", "feedforward_norm"),
)
_CROSS = (
    *((f"encoder_attn.{theirs}", f"cross_attention.{ours}") for theirs, ours in _ATTENTION),
    ("encoder_attn_layer_norm", "cross_norm"),
)


def stems(head: Language) -> tuple[str, str]:
    """What may stand before both stacks' names, first what transformers writes: a bare BART has no stem."""
    return ("model.", "") if head.bias else ("", "model.")


def layer_rows(stem: str) -> list[Row]:
    """The blocks of both stacks, under names that begin with `stem`."""
    return [
        Same(f"{stem}{side}.layers.{{i}}.{theirs}.{kind}", f"{side}.blocks.{{i}}.{ours}.{kind}")
        for side, parts in (("encoder", _LAYER), ("decoder", _LAYER + _CROSS))
        for theirs, ours in parts
        for kind in ("weight", "bias")
    ]


def bias_rows(vocabulary: int) -> list[Row]:
    """What is added to the logits, a parameter here and there a buffer, which files may leave out."""
    name = "final_logits_bias"
    return [OneRow(name, "head.bias"), Zeros(name, "head.bias", (vocabulary,))]
