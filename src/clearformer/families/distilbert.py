"""DistilBERT (Sanh et al. 2019, arXiv 1910.01108): BERT at half its depth, without segments."""

from __future__ import annotations

from dataclasses import replace

from clearformer.checkpoint.renames import Ignored, Row, Same, Table, Tied
from clearformer.families.activations import ACTIVATIONS, foreign_name
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.family import Family
from clearformer.families.heads import (
    Labels,
    bare_first,
    encoder_classes,
    read_encoder_head,
    stems,
    vocabulary_rows,
    write_head,
)
from clearformer.families.multi_head import read_multi_head
from clearformer.families.pretrained_config import require_encoder
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
    Language,
    LayerNorm,
    Learned,
    Normal,
    Pooling,
    Regression,
    Sequential,
    Spec,
    Stack,
    Tokens,
    Transform,
)

_CLASSES = encoder_classes("DistilBert")
_NORM = LayerNorm(1e-12)


def translate(config: ConfigReader, architecture: str) -> Spec:
    width, attention = read_multi_head(config, ("dim", "n_heads"))
    context = config.whole("max_position_embeddings")
    dropout = config.number("dropout", 0.1)
    activation = config.choice("activation", ACTIVATIONS, "gelu")
    block = Block(
        attention=replace(
            attention,
            visibility=Full(),
            bias=Biases.everywhere(),
            dropout=config.number("attention_dropout", 0.1),
        ),
        feedforward=Dense(config.whole("hidden_dim"), activation),
        attention_norm=_NORM,
        feedforward_norm=_NORM,
        arrangement=Sequential("post"),
        dropout=dropout,
    )
    # How the table of positions, which is stored, was first filled; a switch that tying never obeyed; another head's.
    config.flag("sinusoidal_pos_embds", False)
    config.only("tie_weights_", True)
    config.harmless(("qa_dropout",))
    require_encoder(config)
    tokens = Tokens(config.whole("vocab_size"), Learned(context), norm=_NORM, dropout=dropout)
    return EncoderOnly(
        encoder=Stack(width, tokens, (block,) * config.whole("n_layers", limit=MAX_LAYERS)),
        head=_head(config, architecture, activation),
        context=context,
        initial=Normal(config.number("initializer_range", 0.02), residual_scaled=False),
    )


def _head(config: ConfigReader, architecture: str, activation: Activation) -> Head:
    labels = Labels(Pooling(First(), Transform("relu")), config.number("seq_classif_dropout", 0.2))
    language = Language(bias=True, transform=Transform(activation, _NORM))
    return read_encoder_head(config, architecture, _CLASSES, language, labels)


def to_config(spec: Spec) -> dict[str, object] | None:
    if not isinstance(spec, EncoderOnly) or not isinstance(spec.encoder.input, Tokens) or not spec.encoder.blocks:
        return None
    block = spec.encoder.blocks[0]
    attention, feedforward = block.attention, block.feedforward
    if not (isinstance(attention, Attention) and isinstance(feedforward, Dense)):
        return None
    return {
        "model_type": "distilbert",
        "vocab_size": spec.encoder.input.vocabulary,
        "dim": spec.encoder.width,
        "hidden_dim": feedforward.width,
        "n_layers": len(spec.encoder.blocks),
        "n_heads": attention.heads,
        "activation": foreign_name(feedforward.activation),
        "max_position_embeddings": spec.context,
        "dropout": block.dropout,
        "attention_dropout": attention.dropout,
        **write_head(spec.head, _CLASSES, "seq_classif_dropout"),
    }


_LAYER = (
    ("attention.q_lin", "attention.query"),
    ("attention.k_lin", "attention.key"),
    ("attention.v_lin", "attention.value"),
    ("attention.out_lin", "attention.output"),
    ("sa_layer_norm", "attention_norm"),
    ("ffn.lin1", "feedforward.up"),
    ("ffn.lin2", "feedforward.down"),
    ("output_layer_norm", "feedforward_norm"),
)


def table(spec: Spec) -> Table:
    assert isinstance(spec, EncoderOnly)
    rows = [row for stem in stems(spec.head, "distilbert.") for row in _stack_rows(stem)]
    for kind in ("weight", "bias"):
        match spec.head:
            case Language():
                rows += [
                    Same(f"vocab_transform.{kind}", f"head.transform.dense.{kind}"),
                    Same(f"vocab_layer_norm.{kind}", f"head.transform.norm.{kind}"),
                ]
            case Classes() | Regression():
                rows += [
                    Same(f"pre_classifier.{kind}", f"head.pooling.transform.dense.{kind}"),
                    Same(f"classifier.{kind}", f"head.project.{kind}"),
                ]
    if isinstance(spec.head, Language):
        tables = (f"{stem}embeddings.word_embeddings.weight" for stem in stems(spec.head, "distilbert."))
        rows += [
            Same("vocab_projector.bias", "head.bias"),
            *vocabulary_rows(spec.head, "vocab_projector.weight", tables, "encoder.embed.token.weight"),
        ]
    rows.append(Ignored("*embeddings.position_ids", "0, 1, 2, …, kept as a buffer by old versions"))
    return tuple(rows)


def _stack_rows(stem: str) -> list[Row | Tied | Ignored]:
    rows: list[Row | Tied | Ignored] = [
        Same(f"{stem}embeddings.word_embeddings.weight", "encoder.embed.token.weight"),
        Same(f"{stem}embeddings.position_embeddings.weight", "encoder.embed.position.weight"),
    ]
    for kind in ("weight", "bias"):
        rows.append(Same(f"{stem}embeddings.LayerNorm.{kind}", f"encoder.embed.norm.{kind}"))
        rows += [
            Same(f"{stem}transformer.layer.{{i}}.{theirs}.{kind}", f"encoder.blocks.{{i}}.{ours}.{kind}")
            for theirs, ours in _LAYER
        ]
    return rows


DISTILBERT = Family(
    model_type="distilbert",
    architectures=bare_first(_CLASSES),
    translate=translate,
    to_config=to_config,
    table=table,
)
