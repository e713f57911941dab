"""What kind of Transformer a module is, where the user does not say."""

from __future__ import annotations

import re

from torch import nn

from clearformer.doctor.calling.masks import reads_ahead
from clearformer.doctor.calling.signature import innermost, read
from clearformer.doctor.calling.subject import Subject
from clearformer.doctor.parts import Kind
from clearformer.spec import Forecast

_BY_NAME: tuple[tuple[Kind, str], ...] = (
    ("forecaster", r"forecast|timeseries|patchtst|informer|autoformer"),
    ("encoder-decoder", r"seq2seq|encoderdecoder|conditionalgeneration|translat|marian"),
    ("decoder", r"forcausallm|lmhead|gpt|decoderonly|causal|languagemodel|llama"),
    ("encoder", r"formaskedlm|encoder|bert|classifi|formulti|fortoken|forsequence"),
)


def by_name(module: nn.Module) -> Kind | None:
    """The kind that a config, a class or the arguments of forward declare."""
    inner = innermost(module)
    config = getattr(inner, "config", None)
    if getattr(config, "is_encoder_decoder", None) is True:
        return "encoder-decoder"
    if isinstance(getattr(getattr(inner, "spec", None), "head", None), Forecast):
        return "forecaster"
    if isinstance(inner, nn.Transformer | nn.TransformerDecoder | nn.TransformerDecoderLayer):
        return "encoder-decoder"
    if read(module, None).source is not None:
        return "encoder-decoder"
    name = type(inner).__name__.lower()
    return next((kind for kind, pattern in _BY_NAME if re.search(pattern, name)), None)


def by_behaviour(subject: Subject, masked: Subject) -> Kind:
    """A module that reads no further than each token is a decoder; so is one that gives logits for every id.

    The second, so that a decoder whose mask is at fault does not pass for an encoder.
    """
    if not subject.per_position:
        return "decoder" if subject.call.answers == "last" else "encoder"
    if subject.call.takes == "series":
        return "forecaster"
    if reads_ahead(masked) is False:
        return "decoder"
    return "decoder" if subject.call.takes == "ids" and _gives_logits(subject) else "encoder"


def _gives_logits(subject: Subject) -> bool:
    linear = [each for each in innermost(subject.module).modules() if isinstance(each, nn.Linear)]
    return bool(linear) and linear[-1].out_features == subject.vocab_size
