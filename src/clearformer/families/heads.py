"""What stands behind a stack: the three classes that transformers has for every decoder and for every text encoder.

A decoder speaks, an encoder fills in; both can stop at their hidden states, and both can tell labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from clearformer.checkpoint.renames import Fallback, Ignored, Row, Same, Tied
from clearformer.families.config_reader import ConfigReader
from clearformer.messages import families as say
from clearformer.spec import (
    Classes,
    Head,
    Hidden,
    Language,
    Last,
    Pooling,
    Regression,
    Vector,
)


class Architectures(NamedTuple):
    """A family's classes in transformers, by the head that they put behind the stack."""

    language: str
    hidden: str
    labels: str


class Labels(NamedTuple):
    """A classifier before its labels are counted."""

    pooling: Pooling
    dropout: float


def decoder_classes(stem: str) -> Architectures:
    return Architectures(f"{stem}ForCausalLM", f"{stem}Model", f"{stem}ForSequenceClassification")


def encoder_classes(stem: str) -> Architectures:
    return Architectures(f"{stem}ForMaskedLM", f"{stem}Model", f"{stem}ForSequenceClassification")


def bare_first(classes: Architectures) -> tuple[str, str, str]:
    """The same in the order of an encoder's family, whose bare model is meant where a config names no class."""
    return classes.hidden, classes.language, classes.labels


def read_decoder_head(
    config: ConfigReader, architecture: str, classes: Architectures, *, tied: bool, cap: float | None = None
) -> Head:
    """What stands behind a decoder; `tied` is meant where `tie_word_embeddings` is absent, `cap` bends the logits."""
    tied = config.flag("tie_word_embeddings", tied)
    if architecture == classes.labels:
        return read_labels(config, Pooling(Last()), bias=False)
    return Hidden() if architecture == classes.hidden else Language(tied, cap=cap)


def read_encoder_head(
    config: ConfigReader, architecture: str, classes: Architectures, language: Language, labels: Labels
) -> Head:
    """What stands behind an encoder: `language`, tied or not as the config says, or `labels`, as many as it names."""
    tied = config.flag("tie_word_embeddings", True)
    if architecture == classes.labels:
        return read_labels(config, labels.pooling, bias=True, dropout=labels.dropout)
    return Hidden() if architecture == classes.hidden else replace(language, tied=tied)


def write_head(head: Head, classes: Architectures, dropout: str | None = None) -> dict[str, object]:
    """The keys that mean the head; `dropout` is the family's key for that of a classifier, if it has one."""
    match head:
        case Language(tied=tied):
            return {"architectures": [classes.language], "tie_word_embeddings": tied}
        case Classes() | Regression():
            written = {"architectures": [classes.labels], **write_labels(head)}
            return written if dropout is None else {**written, dropout: head.dropout}
        case _:
            return {"architectures": [classes.hidden]}


def stems(head: Head, stem: str) -> tuple[str, str]:
    """What may stand before a stack's names, first what transformers writes.

    A model saved with a head has the stem, a bare one has not; transformers reads either as either.
    """
    return ("", stem) if isinstance(head, Hidden | Vector) else (stem, "")


def vocabulary_rows(head: Language, name: str, tables: Iterable[str], ours: str) -> list[Row | Tied | Ignored]:
    """The last product before logits: a tensor of its own, or our token table `ours`, whose other names are `tables`.

    A tied head stands beside the table with the same numbers, or in its place.
    """
    if head.tied:
        return [Fallback(name, ours), *(Tied(name, table) for table in tables)]
    return [Same(name, "head.project.weight")]


def decoder_head_rows(head: Head, tables: Iterable[str], stack: str = "decoder") -> list[Row | Tied | Ignored]:
    """The weights behind a decoder; `tables` as above, `stack` is ours."""
    match head:
        case Language():
            return vocabulary_rows(head, "lm_head.weight", tables, f"{stack}.embed.token.weight")
        case Classes() | Regression():
            return [Same("score.weight", "head.project.weight")]
        case _:
            return []


def read_labels(config: ConfigReader, pooling: Pooling, *, bias: bool, dropout: float = 0.0) -> Classes | Regression:
    """A classifier over `id2label`, two labels where a config names none; one label is a number to predict."""
    names = config.mapping("id2label")
    count = len(names) if names else config.whole("num_labels", 2)
    if names and config.has("num_labels") and config.whole("num_labels") != count:
        config.contradiction("num_labels", "id2label", say.LABELS_NAMED, count=count)
    if count == 1 or config.text("problem_type") == "regression":
        return Regression(count, pooling, bias, dropout)
    return Classes(count, pooling, bias, dropout)


def write_labels(head: Classes | Regression) -> dict[str, object]:
    """`id2label` and its inverse, with transformers' names for labels without one."""
    count = head.outputs if isinstance(head, Regression) else head.count
    written = named_labels([f"LABEL_{index}" for index in range(count)])
    if isinstance(head, Regression):
        written["problem_type"] = "regression"
    return written


def named_labels(names: Sequence[str]) -> dict[str, object]:
    """The two keys in which a config names its classes; none for no names."""
    if not names:
        return {}
    return {"id2label": {str(i): name for i, name in enumerate(names)}, "label2id": {n: i for i, n in enumerate(names)}}
