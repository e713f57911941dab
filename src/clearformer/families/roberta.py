"""RoBERTa (Liu et al. 2019, arXiv 1907.11692) and XLM-RoBERTa (Conneau et al. 2019, arXiv 1911.02116): BERT's encoder,
whose positions begin behind the padding's id."""

from __future__ import annotations

from clearformer.checkpoint.renames import Ignored, Same, Table
from clearformer.families.bert_encoder import decoder_rows, encoder_rows, read_encoder, write_encoder
from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family
from clearformer.families.heads import (
    Architectures,
    Labels,
    bare_first,
    encoder_classes,
    read_encoder_head,
    stems,
    write_head,
)
from clearformer.spec import (
    Classes,
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
    Tokens,
    Transform,
)


def translate(config: ConfigReader, architecture: str, classes: Architectures) -> Spec:
    # fairseq numbered positions from the padding's id on, so the rows up to it belong to no token.
    offset = config.whole("pad_token_id", 1, at_least=0) + 1
    context = config.whole("max_position_embeddings", at_least=offset + 1) - offset
    encoder = read_encoder(config, Learned(context, offset))
    return EncoderOnly(
        encoder=encoder,
        head=_head(config, architecture, classes, encoder),
        context=context,
        initial=Normal(config.number("initializer_range", 0.02), residual_scaled=False),
    )


def _head(config: ConfigReader, architecture: str, classes: Architectures, encoder: Stack) -> Head:
    block = encoder.blocks[0]
    # GELU whatever `hidden_act` says.
    language = Language(bias=True, transform=Transform("gelu", block.attention_norm))
    labels = Labels(Pooling(First(), Transform("tanh")), config.number("classifier_dropout", block.dropout))
    return read_encoder_head(config, architecture, classes, language, labels)


def to_config(spec: Spec, model_type: str, classes: Architectures) -> dict[str, object] | None:
    if not isinstance(spec, EncoderOnly) or (encoder := write_encoder(spec.encoder)) is None:
        return None
    assert isinstance(spec.encoder.input, Tokens)
    if not isinstance(position := spec.encoder.input.position, Learned) or not position.offset:
        return None
    return {
        "model_type": model_type,
        **encoder,
        "max_position_embeddings": spec.context + position.offset,
        "pad_token_id": position.offset - 1,
        **write_head(spec.head, classes, "classifier_dropout"),
    }


def table(spec: Spec) -> Table:
    assert isinstance(spec, EncoderOnly)
    rows = [row for stem in stems(spec.head, "roberta.") for row in encoder_rows(stem)]
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
        tables = (f"{stem}embeddings.word_embeddings.weight" for stem in stems(spec.head, "roberta."))
        rows += decoder_rows(spec.head, "lm_head", tables)
    rows += [
        Ignored("*pooler.dense.*", "a pooler that was never trained, and that no head reads"),
        Ignored("*embeddings.position_ids", "0, 1, 2, …, kept as a buffer by old versions"),
    ]
    return tuple(rows)


def _family(model_type: str, stem: str) -> Family:
    classes = encoder_classes(stem)
    return Family(
        model_type=model_type,
        architectures=bare_first(classes),
        translate=lambda config, architecture: translate(config, architecture, classes),
        to_config=lambda spec: to_config(spec, model_type, classes),
        table=table,
    )


ROBERTA = _family("roberta", "Roberta")
XLM_ROBERTA = _family("xlm-roberta", "XLMRoberta")
