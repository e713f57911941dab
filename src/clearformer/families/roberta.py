"""RoBERTa (Liu et al. 2019, arXiv 1907.11692) and XLM-RoBERTa (Conneau et al. 2019, arXiv 1911.02116): BERT's encoder,
whose positions begin behind the padding's id."""

from __future__ import annotations

from clearformer.checkpoint.renames import Ignored, Same, Table
from clearformer.families.bert_encoder import decoder_rows, encoder_rows, read_encoder, write_encoder
from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family
from clearformer.families.heads import read_labels, write_labels
from clearformer.spec import (
    Classes,
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
    Tokens,
    Transform,
    Vector,
)

_HIDDEN, _LANGUAGE, _LABELS = "Model", "ForMaskedLM", "ForSequenceClassification"


def translate(config: ConfigReader, architecture: str) -> Spec:
    # fairseq numbered positions from the padding's id on, so the rows up to it belong to no token.
    offset = config.whole("pad_token_id", 1, at_least=0) + 1
    context = config.whole("max_position_embeddings", at_least=offset + 1) - offset
    encoder = read_encoder(config, Learned(context, offset))
    return EncoderOnly(
        encoder=encoder,
        head=_head(config, architecture, encoder),
        context=context,
        initial=Normal(config.number("initializer_range", 0.02), residual_scaled=False),
    )


def _head(config: ConfigReader, architecture: str, encoder: Stack) -> Head:
    block = encoder.blocks[0]
    tied = config.flag("tie_word_embeddings", True)
    dropout = config.number("classifier_dropout", block.dropout)
    if architecture.endswith(_LANGUAGE):
        # GELU whatever `hidden_act` says.
        return Language(tied, bias=True, transform=Transform("gelu", block.attention_norm))
    if architecture.endswith(_LABELS):
        return read_labels(config, Pooling(First(), Transform("tanh")), bias=True, dropout=dropout)
    return Hidden()


def to_config(spec: Spec, model_type: str, stem: str) -> dict[str, object] | None:
    if not isinstance(spec, EncoderOnly) or (encoder := write_encoder(spec.encoder)) is None:
        return None
    assert isinstance(spec.encoder.input, Tokens)
    if not isinstance(position := spec.encoder.input.position, Learned) or not position.offset:
        return None
    written: dict[str, object] = {
        "architectures": [stem + _HIDDEN],
        "model_type": model_type,
        **encoder,
        "max_position_embeddings": spec.context + position.offset,
        "pad_token_id": position.offset - 1,
        "tie_word_embeddings": not isinstance(spec.head, Language) or spec.head.tied,
    }
    match spec.head:
        case Language():
            written["architectures"] = [stem + _LANGUAGE]
        case Classes() | Regression() as head:
            written |= {"architectures": [stem + _LABELS], "classifier_dropout": head.dropout, **write_labels(head)}
    return written


def table(spec: Spec) -> Table:
    assert isinstance(spec, EncoderOnly)
    bare = isinstance(spec.head, Hidden | Vector)
    rows = [row for stem in (("", "roberta.") if bare else ("roberta.", "")) for row in encoder_rows(stem)]
    for kind in ("weight", "bias"):
        match spec.head:
            case Language():
                rows += [
                    Same(f"lm_head.dense.{kind}", f"head.transform.dense.{kind}"),
                    Same(f"lm_head.layer_norm.{kind}", f"head.transform.norm.{kind}"),
                ]
            case Classes() | Regression():
                rows += [
                    Same(f"classifier.dense.{kind}", f"head.pooling.transform.dense.{kind}"),
                    Same(f"classifier.out_proj.{kind}", f"head.project.{kind}"),
                ]
    if isinstance(spec.head, Language):
        rows += decoder_rows("lm_head", "roberta.embeddings.word_embeddings.weight", tied=spec.head.tied)
    rows += [
        Ignored("*pooler.dense.*", "a pooler that was never trained, and that no head reads"),
        Ignored("*embeddings.position_ids", "0, 1, 2, …, kept as a buffer by old versions"),
    ]
    return tuple(rows)


def _family(model_type: str, stem: str) -> Family:
    return Family(
        model_type=model_type,
        architectures=tuple(stem + kind for kind in (_HIDDEN, _LANGUAGE, _LABELS)),
        translate=translate,
        to_config=lambda spec: to_config(spec, model_type, stem),
        table=table,
    )


ROBERTA = _family("roberta", "Roberta")
XLM_ROBERTA = _family("xlm-roberta", "XLMRoberta")
