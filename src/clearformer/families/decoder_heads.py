"""The three classes that transformers has for every decoder: `…ForCausalLM`, `…Model`, `…ForSequenceClassification`."""

from __future__ import annotations

from clearformer.families.config_reader import ConfigReader
from clearformer.families.heads import read_labels, write_labels
from clearformer.spec import Classes, Head, Hidden, Language, Last, Pooling, Regression

_SUFFIXES = ("ForCausalLM", "Model", "ForSequenceClassification")


def decoder_classes(stem: str) -> tuple[str, str, str]:
    """Their names, the speaking one first."""
    language, hidden, labels = _SUFFIXES
    return stem + language, stem + hidden, stem + labels


def read_decoder_head(config: ConfigReader, architecture: str, *, tied: bool, cap: float | None = None) -> Head:
    """What stands behind the stack; `tied` is meant where `tie_word_embeddings` is absent, `cap` bends the logits."""
    tied = config.flag("tie_word_embeddings", tied)
    language, hidden, _ = _SUFFIXES
    if architecture.endswith(language):
        return Language(tied, cap=cap)
    return Hidden() if architecture.endswith(hidden) else read_labels(config, Pooling(Last()), bias=False)


def write_decoder_head(head: Head, stem: str) -> dict[str, object]:
    """The keys that mean the head."""
    language, hidden, labels = decoder_classes(stem)
    tied = isinstance(head, Language) and head.tied
    match head:
        case Classes() | Regression():
            return {"architectures": [labels], "tie_word_embeddings": tied, **write_labels(head)}
        case Hidden():
            return {"architectures": [hidden], "tie_word_embeddings": tied}
        case _:
            return {"architectures": [language], "tie_word_embeddings": tied}
