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
from clearformer.families.heads import Labels, bare_first, encoder_classes, read_encoder_head, stems, write_head
from clearformer.spec import (
    Classes,
    Dense,
    EncoderOnly,
    First,
    Head,
    Language,
    Learned,
    Normal,
    Pooling,
    Regression,
    Spec,
    Stack,
    Transform,
)

_CLASSES = encoder_classes("Bert")
# With the next-sentence head beside the one that fills in, which alone is read.
_PRETRAINED = "BertForPreTraining"


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
    language = Language(bias=True, transform=Transform(block.feedforward.activation, block.attention_norm))
    labels = Labels(Pooling(First(), Transform("tanh")), config.number("classifier_dropout", block.dropout))
    return read_encoder_head(config, architecture, _CLASSES, language, labels)


def to_config(spec: Spec) -> dict[str, object] | None:
    """A sentence vector's pooling is not in the config: `modules.json` holds it."""
    if not isinstance(spec, EncoderOnly) or (encoder := write_encoder(spec.encoder)) is None:
        return None
    head = write_head(spec.head, _CLASSES, "classifier_dropout")
    return {"model_type": "bert", **encoder, "max_position_embeddings": spec.context, **head}


def table(spec: Spec) -> Table:
    assert isinstance(spec, EncoderOnly)
    rows = [row for stem in stems(spec.head, "bert.") for row in encoder_rows(stem)]
    match spec.head:
        case Language() as head:
            rows += _language_rows(head)
        case Classes() | Regression():
            for kind in ("weight", "bias"):
                pooler = (f"{stem}pooler.dense.{kind}" for stem in stems(spec.head, "bert."))
                rows += [Same(name, f"head.pooling.transform.dense.{kind}") for name in pooler]
                rows.append(Same(f"classifier.{kind}", f"head.project.{kind}"))
        case _:
            rows.append(Ignored("*pooler.dense.*", "the classifier's pooler, which hidden states do not pass"))
    rows.append(Ignored("*embeddings.position_ids", "0, 1, 2, …, kept as a buffer by old versions"))
    return tuple(rows)


def _language_rows(head: Language) -> list[Row | Tied | Ignored]:
    stem = "cls.predictions"
    rows: list[Row | Tied | Ignored] = [
        Same(f"{stem}.transform.dense.{kind}", f"head.transform.dense.{kind}") for kind in ("weight", "bias")
    ]
    rows += [Same(f"{stem}.transform.LayerNorm.{part}", f"head.transform.norm.{ours}") for part, ours in NORM_PARTS]
    rows += [
        Ignored("cls.seq_relationship.*", "the next-sentence head of pre-training"),
        Ignored("*pooler.dense.*", "the next-sentence head's pooler"),
    ]
    tables = (f"{each}embeddings.word_embeddings.weight" for each in stems(head, "bert."))
    return rows + decoder_rows(head, stem, tables)


BERT = Family(
    model_type="bert",
    architectures=(*bare_first(_CLASSES), _PRETRAINED),
    translate=translate,
    to_config=to_config,
    table=table,
)
