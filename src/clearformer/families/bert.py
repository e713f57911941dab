"""BERT (Devlin et al. 2018, arXiv 1810.04805), and the sentence encoders built on it."""

from __future__ import annotations

import dataclasses

from clearformer.checkpoint.renames import Ignored, Row, Same, Split, Table, Tied
from clearformer.checkpoint.tensor_file import TensorFile
from clearformer.families.activations import ACTIVATIONS, foreign_name
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.family import Family, GGUFForm
from clearformer.families.gguf_values import decimal, rows_of
from clearformer.families.heads import read_labels, write_labels
from clearformer.messages import families as say
from clearformer.spec import (
    Activation,
    Attention,
    Biases,
    Block,
    Classes,
    Dense,
    EncoderOnly,
    First,
    Full,
    Head,
    Hidden,
    Language,
    Last,
    LayerNorm,
    Learned,
    Mean,
    Normal,
    Pooling,
    Regression,
    Sequential,
    Spec,
    Stack,
    Tokens,
    Transform,
    Vector,
)

_HIDDEN, _LANGUAGE, _LABELS = "BertModel", "BertForMaskedLM", "BertForSequenceClassification"


def translate(config: ConfigReader, architecture: str) -> Spec:
    width, heads = config.whole("hidden_size"), config.whole("num_attention_heads")
    if width % heads:
        config.contradiction("hidden_size", "num_attention_heads", say.HEADS_DO_NOT_DIVIDE_WIDTH)
    context = config.whole("max_position_embeddings")
    norm = LayerNorm(config.number("layer_norm_eps", 1e-12))
    dropout = config.number("hidden_dropout_prob", 0.1)
    activation = config.choice("hidden_act", ACTIVATIONS, "gelu")
    block = Block(
        attention=Attention(
            heads,
            heads,
            width // heads,
            width // heads,
            visibility=Full(),
            bias=Biases.everywhere(),
            dropout=config.number("attention_probs_dropout_prob", 0.1),
        ),
        feedforward=Dense(config.whole("intermediate_size"), activation),
        attention_norm=norm,
        feedforward_norm=norm,
        arrangement=Sequential("post"),
        dropout=dropout,
    )
    tokens = Tokens(
        config.whole("vocab_size"),
        Learned(context),
        segments=config.whole("type_vocab_size", 2),
        norm=norm,
        dropout=dropout,
    )
    _require_plain(config)
    return EncoderOnly(
        encoder=Stack(width, tokens, (block,) * config.whole("num_hidden_layers", limit=MAX_LAYERS)),
        head=_head(config, architecture, activation, norm, dropout),
        context=context,
        initial=Normal(config.number("initializer_range", 0.02), residual_scaled=False),
    )


def _require_plain(config: ConfigReader) -> None:
    config.only("position_embedding_type", "absolute")
    for key in ("is_decoder", "add_cross_attention", "is_encoder_decoder"):
        config.only(key, False)
    config.only("pruned_heads", {})
    # The first release's description of its pooler, which is always the same one.
    config.only("directionality", "bidi")
    config.only("pooler_type", "first_token_transform")
    config.harmless(("pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers", "pooler_size_per_head"))


def _head(config: ConfigReader, architecture: str, activation: Activation, norm: LayerNorm, dropout: float) -> Head:
    tied = config.flag("tie_word_embeddings", True)
    label_dropout = config.number("classifier_dropout", dropout)
    if architecture == _LANGUAGE:
        return Language(tied, bias=True, transform=Transform(activation, norm))
    if architecture == _LABELS:
        return read_labels(config, Pooling(First(), Transform("tanh")), bias=True, dropout=label_dropout)
    return Hidden()


def to_config(spec: Spec) -> dict[str, object] | None:
    """A sentence vector's pooling is not in the config: `modules.json` holds it."""
    if not isinstance(spec, EncoderOnly) or not isinstance(spec.encoder.input, Tokens) or not spec.encoder.blocks:
        return None
    block, tokens = spec.encoder.blocks[0], spec.encoder.input
    attention, feedforward, norm = block.attention, block.feedforward, block.attention_norm
    if not (isinstance(attention, Attention) and isinstance(feedforward, Dense) and isinstance(norm, LayerNorm)):
        return None
    written: dict[str, object] = {
        "architectures": [_HIDDEN],
        "model_type": "bert",
        "vocab_size": tokens.vocabulary,
        "hidden_size": spec.encoder.width,
        "intermediate_size": feedforward.width,
        "num_hidden_layers": len(spec.encoder.blocks),
        "num_attention_heads": attention.heads,
        "hidden_act": foreign_name(feedforward.activation),
        "max_position_embeddings": spec.context,
        "type_vocab_size": max(tokens.segments, 1),
        "layer_norm_eps": norm.eps,
        "hidden_dropout_prob": block.dropout,
        "attention_probs_dropout_prob": attention.dropout,
        "tie_word_embeddings": not isinstance(spec.head, Language) or spec.head.tied,
    }
    match spec.head:
        case Language():
            written["architectures"] = [_LANGUAGE]
        case Classes() | Regression() as head:
            written |= {"architectures": [_LABELS], "classifier_dropout": head.dropout, **write_labels(head)}
    return written


_EMBED = (
    ("word_embeddings", "token"),
    ("position_embeddings", "position"),
    ("token_type_embeddings", "segment"),
)
_MATRICES = (
    # theirs, llama.cpp's, ours
    ("attention.self.query", "attn_q", "attention.query"),
    ("attention.self.key", "attn_k", "attention.key"),
    ("attention.self.value", "attn_v", "attention.value"),
    ("attention.output.dense", "attn_output", "attention.output"),
    ("intermediate.dense", "ffn_up", "feedforward.up"),
    ("output.dense", "ffn_down", "feedforward.down"),
)
_NORMS = (
    ("attention.output.LayerNorm", "attn_output_norm", "attention_norm"),
    ("output.LayerNorm", "layer_output_norm", "feedforward_norm"),
)
# TensorFlow's names, which the first checkpoints still have.
_NORM_PARTS = (("weight", "weight"), ("bias", "bias"), ("gamma", "weight"), ("beta", "bias"))


def table(spec: Spec) -> Table:
    assert isinstance(spec, EncoderOnly)
    bare = isinstance(spec.head, Hidden | Vector)
    rows = [row for stem in (("", "bert.") if bare else ("bert.", "")) for row in _stack_rows(stem)]
    match spec.head:
        case Language(tied=tied):
            rows += _language_rows(tied)
        case Classes() | Regression():
            for kind in ("weight", "bias"):
                rows += [
                    Same(f"bert.pooler.dense.{kind}", f"head.pooling.transform.dense.{kind}"),
                    Same(f"classifier.{kind}", f"head.project.{kind}"),
                ]
        case _:
            rows.append(Ignored("*pooler.dense.*", "the classifier's pooler, which hidden states do not pass"))
    rows.append(Ignored("*embeddings.position_ids", "0, 1, 2, …, kept as a buffer by old versions"))
    return tuple(rows)


def _stack_rows(stem: str) -> list[Row | Tied | Ignored]:
    layer, block = f"{stem}encoder.layer.{{i}}", "encoder.blocks.{i}"
    rows: list[Row | Tied | Ignored] = [
        Same(f"{stem}embeddings.{theirs}.weight", f"encoder.embed.{ours}.weight") for theirs, ours in _EMBED
    ]
    for part, ours_part in _NORM_PARTS:
        rows.append(Same(f"{stem}embeddings.LayerNorm.{part}", f"encoder.embed.norm.{ours_part}"))
        rows += [Same(f"{layer}.{theirs}.{part}", f"{block}.{ours}.{ours_part}") for theirs, _, ours in _NORMS]
    for kind in ("weight", "bias"):
        rows += [Same(f"{layer}.{theirs}.{kind}", f"{block}.{ours}.{kind}") for theirs, _, ours in _MATRICES]
    return rows


def _language_rows(tied: bool) -> list[Row | Tied | Ignored]:
    stem = "cls.predictions"
    rows: list[Row | Tied | Ignored] = [
        Same(f"{stem}.transform.dense.{kind}", f"head.transform.dense.{kind}") for kind in ("weight", "bias")
    ]
    rows += [Same(f"{stem}.transform.LayerNorm.{part}", f"head.transform.norm.{ours}") for part, ours in _NORM_PARTS]
    rows += [
        Ignored("cls.seq_relationship.*", "the next-sentence head of pre-training"),
        Ignored("*pooler.dense.*", "the next-sentence head's pooler"),
    ]
    decoder = f"{stem}.decoder"
    if tied:
        rows += [
            Same(f"{stem}.bias", "head.bias"),
            Tied(f"{decoder}.bias", f"{stem}.bias"),
            Tied(f"{decoder}.weight", "bert.embeddings.word_embeddings.weight"),
        ]
    else:
        rows += [
            Same(f"{decoder}.bias", "head.bias"),
            Same(f"{decoder}.weight", "head.project.weight"),
            Ignored(f"{stem}.bias", "the tied bias, which an untied decoder does not read"),
        ]
    return rows


def gguf_table(spec: Spec) -> Table:
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
            *(Same(f"blk.{{i}}.{theirs}.{kind}", f"{block}.{ours}.{kind}") for _, theirs, ours in _MATRICES + _NORMS),
            Split(f"blk.{{i}}.attn_qkv.{kind}", fused, (spec.encoder.width,) * 3),
        ]
    return tuple(rows)


_GGUF_POOLING: dict[int, Head] = {
    0: Hidden(),
    1: Vector(Pooling(Mean())),
    2: Vector(Pooling(First())),
    3: Vector(Pooling(Last())),
}


def _from_gguf(metadata: ConfigReader, tensors: TensorFile) -> Spec:
    config = {
        "hidden_size": metadata.whole("bert.embedding_length"),
        "num_attention_heads": metadata.whole("bert.attention.head_count"),
        "num_hidden_layers": metadata.whole("bert.block_count"),
        "max_position_embeddings": metadata.whole("bert.context_length"),
        "intermediate_size": metadata.whole("bert.feed_forward_length"),
        "layer_norm_eps": decimal(metadata.number("bert.attention.layer_norm_epsilon")),
        "vocab_size": metadata.whole("bert.vocab_size", rows_of(tensors, "token_embd.weight")),
        "type_vocab_size": rows_of(tensors, "token_types.weight"),
    }
    metadata.only("bert.attention.causal", False)
    kind = metadata.whole("bert.pooling_type", 0, at_least=0)
    if kind not in _GGUF_POOLING:
        metadata.cannot_say("bert.pooling_type", "0 | 1 | 2 | 3", kind)
    spec = translate(ConfigReader(config, tensors.path), _HIDDEN)
    assert isinstance(spec, EncoderOnly)
    return dataclasses.replace(spec, head=_GGUF_POOLING[kind])


BERT = Family(
    model_type="bert",
    architectures=(_HIDDEN, _LANGUAGE, _LABELS),
    translate=translate,
    to_config=to_config,
    table=table,
    gguf=GGUFForm("bert", _from_gguf, gguf_table),
)
