"""BERT (Devlin et al. 2018, arXiv 1810.04805), and the sentence encoders built on it."""

from __future__ import annotations

from clearformer.checkpoint.renames import Ignored, Row, Same, Table, Tied
from clearformer.families.bert_encoder import (
    NORM_PARTS,
    decoder_rows,
    encoder_rows,
    read_encoder,
    write_encoder,
)
from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family
from clearformer.families.heads import read_labels, write_labels
from clearformer.spec import (
    Classes,
    Dense,
    EncoderOnly,
    First,
    Head,
    Hidden,
    Language,
    Learned,
    Normal,
    Pooling,
    Regression,
    Spec,
    Stack,
    Transform,
    Vector,
)

_HIDDEN, _LANGUAGE, _LABELS = "BertModel", "BertForMaskedLM", "BertForSequenceClassification"


def translate(config: ConfigReader, architecture: str) -> Spec:
    context = config.whole("max_position_embeddings")
    encoder = read_encoder(config, Learned(context))
    # The first release's description of its pooler, which is always the same one.
    config.only("directionality", "bidi")
    config.only("pooler_type", "first_token_transform")
    config.harmless(("pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers", "pooler_size_per_head"))
    return EncoderOnly(
        encoder=encoder,
        head=_head(config, architecture, encoder),
        context=context,
        initial=Normal(config.number("initializer_range", 0.02), residual_scaled=False),
    )


def _head(config: ConfigReader, architecture: str, encoder: Stack) -> Head:
    block = encoder.blocks[0]
    assert isinstance(block.feedforward, Dense)
    tied = config.flag("tie_word_embeddings", True)
    dropout = config.number("classifier_dropout", block.dropout)
    if architecture == _LANGUAGE:
        return Language(tied, bias=True, transform=Transform(block.feedforward.activation, block.attention_norm))
    if architecture == _LABELS:
        return read_labels(config, Pooling(First(), Transform("tanh")), bias=True, dropout=dropout)
    return Hidden()


def to_config(spec: Spec) -> dict[str, object] | None:
    """A sentence vector's pooling is not in the config: `modules.json` holds it."""
    if not isinstance(spec, EncoderOnly) or (encoder := write_encoder(spec.encoder)) is None:
        return None
    written: dict[str, object] = {
        "architectures": [_HIDDEN],
        "model_type": "bert",
        **encoder,
        "max_position_embeddings": spec.context,
        "tie_word_embeddings": not isinstance(spec.head, Language) or spec.head.tied,
    }
    match spec.head:
        case Language():
            written["architectures"] = [_LANGUAGE]
        case Classes() | Regression() as head:
            written |= {"architectures": [_LABELS], "classifier_dropout": head.dropout, **write_labels(head)}
    return written


def table(spec: Spec) -> Table:
    assert isinstance(spec, EncoderOnly)
    bare = isinstance(spec.head, Hidden | Vector)
    rows = [row for stem in (("", "bert.") if bare else ("bert.", "")) for row in encoder_rows(stem)]
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


def _language_rows(tied: bool) -> list[Row | Tied | Ignored]:
    stem = "cls.predictions"
    rows: list[Row | Tied | Ignored] = [
        Same(f"{stem}.transform.dense.{kind}", f"head.transform.dense.{kind}") for kind in ("weight", "bias")
    ]
    rows += [Same(f"{stem}.transform.LayerNorm.{part}", f"head.transform.norm.{ours}") for part, ours in NORM_PARTS]
    rows += [
        Ignored("cls.seq_relationship.*", "the next-sentence head of pre-training"),
        Ignored("*pooler.dense.*", "the next-sentence head's pooler"),
    ]
    return rows + decoder_rows(stem, "bert.embeddings.word_embeddings.weight", tied=tied)


BERT = Family(
    model_type="bert",
    architectures=(_HIDDEN, _LANGUAGE, _LABELS),
    translate=translate,
    to_config=to_config,
    table=table,
)
