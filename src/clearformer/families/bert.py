"""BERT (Devlin et al. 2018, arXiv 1810.04805), and the sentence encoders built on it."""

from __future__ import annotations

import dataclasses

from clearformer.checkpoint.renames import Ignored, Row, Same, Table, Tied
from clearformer.checkpoint.tensor_file import TensorFile
from clearformer.families.bert_encoder import (
    MATRICES,
    NORM_PARTS,
    NORMS,
    decoder_rows,
    encoder_rows,
    read_encoder,
    write_encoder,
)
from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family, GGUFForm
from clearformer.families.fused_attention import fused_attention_rows
from clearformer.families.gguf_values import decimal, rows_of
from clearformer.families.heads import Labels, bare_first, encoder_classes, read_encoder_head, stems, write_head
from clearformer.spec import (
    Classes,
    Dense,
    EncoderOnly,
    First,
    Head,
    Hidden,
    Language,
    Last,
    Learned,
    Mean,
    Normal,
    Pooling,
    Regression,
    Spec,
    Stack,
    Transform,
    Vector,
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


def gguf_table(spec: Spec) -> Table:
    assert isinstance(spec, EncoderOnly)
    block = "encoder.blocks.{i}"
    rows: list[Row | Tied | Ignored] = [
        Same("token_embd.weight", "encoder.embed.token.weight"),
        Same("position_embd.weight", "encoder.embed.position.weight"),
        Same("token_types.weight", "encoder.embed.segment.weight"),
    ]
    for kind in ("weight", "bias"):
        rows += [
            Same(f"token_embd_norm.{kind}", f"encoder.embed.norm.{kind}"),
            *(Same(f"blk.{{i}}.{theirs}.{kind}", f"{block}.{ours}.{kind}") for _, theirs, ours in MATRICES + NORMS),
        ]
    return (*rows, *fused_attention_rows("blk.{i}.attn_qkv", f"{block}.attention", spec.encoder))


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
    spec = translate(ConfigReader(config, tensors.path), _CLASSES.hidden)
    assert isinstance(spec, EncoderOnly)
    return dataclasses.replace(spec, head=_GGUF_POOLING[kind])


BERT = Family(
    model_type="bert",
    architectures=(*bare_first(_CLASSES), _PRETRAINED),
    translate=translate,
    to_config=to_config,
    table=table,
    gguf=GGUFForm("bert", _from_gguf, gguf_table),
)
