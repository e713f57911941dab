"""How surprised a model is by its own text: the number that a trace ends with and that gradients are of."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from clearformer.inspect.subject import Subject
from clearformer.loss import cross_entropy
from clearformer.model import DecoderOnly, EncoderDecoder
from clearformer.spec import Language


def surprise(subject: Subject, logits: Tensor) -> Float[Tensor, ""] | None:
    """The mean cross-entropy of each next token, in nats; None where the model writes none, or the text has no next."""
    ids = subject.data if isinstance(subject.model, DecoderOnly) else subject.target
    writes = isinstance(subject.model, DecoderOnly | EncoderDecoder) and isinstance(subject.model.spec.head, Language)
    if not writes or ids is None or ids.shape[1] < 2:
        return None
    found = cross_entropy(logits[:, :-1], ids[:, 1:])
    return found.total / found.units
