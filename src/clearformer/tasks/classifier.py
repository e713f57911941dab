"""A trained classifier at work: from texts to their classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from clearformer.errors import UsageError
from clearformer.generate.decode import pad_left
from clearformer.generate.speaker import tokenizer_of
from clearformer.load import Loaded
from clearformer.messages import tasks as say
from clearformer.model import EncoderDecoder, TwoTowers
from clearformer.spec import Classes
from clearformer.tasks.labels import names_in, unnamed
from clearformer.tasks.tokenizing import Frame

_ROWS = 32


@dataclass(frozen=True)
class Classified:
    """The likeliest class of a text, its probability, and every class's."""

    text: str
    label: str
    score: float
    scores: Mapping[str, float]


@torch.inference_mode()
def classify(loaded: Loaded, texts: Sequence[str]) -> list[Classified]:
    """The class of each text, in the order given. A text longer than the context is cut, as in training.

    Names are those of labels.json beside the weights, else of the config, else LABEL_0, LABEL_1 … Raises UsageError
    for a model that classifies nothing, for no texts and for an empty one; CheckpointError for a labels.json that is
    not the model's.
    """
    model = loaded.model
    if isinstance(model, EncoderDecoder | TwoTowers) or not isinstance(model.spec.head, Classes):
        raise UsageError(say.NO_LABELS, name=loaded.name, found=type(getattr(model.spec, "head", model.spec)).__name__)
    if isinstance(texts, str) or not texts:
        raise UsageError(say.NO_TEXTS)
    names = _names(loaded, model.spec.head.count)
    rows = _rows(loaded, texts, model.spec.context)
    # Texts of like length side by side: little is padding.
    order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
    device = next(model.parameters()).device
    found: dict[int, list[float]] = {}
    for start in range(0, len(order), _ROWS):
        chosen = order[start : start + _ROWS]
        ids, real = pad_left([rows[row] for row in chosen], device)
        shares = model(ids, real=real).float().softmax(-1).tolist()
        found |= dict(zip(chosen, shares, strict=True))
    return [_named(text, names, found[row]) for row, text in enumerate(texts)]


def _named(text: str, names: Sequence[str], shares: Sequence[float]) -> Classified:
    best = max(range(len(shares)), key=shares.__getitem__)
    return Classified(text, names[best], shares[best], dict(zip(names, shares, strict=True)))


def _names(loaded: Loaded, count: int) -> tuple[str, ...]:
    return unnamed(count) if loaded.path is None or not loaded.path.is_dir() else names_in(loaded.path, count)


def _rows(loaded: Loaded, texts: Sequence[str], context: int) -> list[tuple[int, ...]]:
    tokenizer = tokenizer_of(loaded)
    words, frame = [tokenizer.encode(text, special=False) for text in texts], Frame.of(tokenizer)
    if [] in words:
        raise UsageError(say.EMPTY_TEXT, number=words.index([]) + 1)
    return [frame.around(ids, context) for ids in words]
