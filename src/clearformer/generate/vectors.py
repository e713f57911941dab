"""Sentence vectors: texts of like length read together, padding hidden."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from clearformer.errors import GenerationError, UsageError
from clearformer.generate.decode import pad_left
from clearformer.generate.speaker import Speaker, tokenizer_of
from clearformer.layers.head import Vector
from clearformer.messages import generate as messages
from clearformer.model import DecoderOnly, EncoderDecoder, EncoderOnly, TwoTowers

_ROWS = 32


@torch.inference_mode()
def embed(speaker: Speaker, texts: Sequence[str]) -> Float[Tensor, "texts width"]:
    """One vector a text, in the order given, as the model's head makes it (often of length one).

    Raises UsageError for a model without a vector head and for a text outside a list; GenerationError for a text that
    is empty or past the context, and for vectors that hold NaN or infinity.
    """
    model = speaker.model.text if isinstance(speaker.model, TwoTowers) else speaker.model
    if isinstance(model, EncoderDecoder) or not isinstance(model.head, Vector):
        found = type(model).__name__ if isinstance(model, EncoderDecoder) else type(model.head).__name__
        raise UsageError(messages.NO_VECTORS, name=speaker.name, found=found)
    if isinstance(texts, str):
        # It is a sequence too, and would give a vector a letter.
        raise UsageError(messages.ONE_TEXT)
    if not texts:
        raise UsageError(messages.NO_PROMPTS)
    rows = [_ids(speaker, model, number, text) for number, text in enumerate(texts, start=1)]
    # Texts of like length side by side: little is padding.
    order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
    device = next(model.parameters()).device
    vectors = []
    for start in range(0, len(order), _ROWS):
        ids, real = pad_left([rows[row] for row in order[start : start + _ROWS]], device)
        vectors.append(model(ids, real=real))
    together = torch.cat(vectors)[torch.tensor(order, device=device).argsort()]
    if not together.isfinite().all():
        raise GenerationError(messages.NOT_FINITE)
    return together


def cosine_similarity(vectors: Float[Tensor, "texts width"]) -> Float[Tensor, "texts texts"]:
    """The cosine of the angle between each two vectors."""
    unit = torch.nn.functional.normalize(vectors.double(), dim=-1)
    return unit @ unit.T


def _ids(speaker: Speaker, model: EncoderOnly | DecoderOnly, number: int, text: str) -> list[int]:
    ids = tokenizer_of(speaker).encode(text)
    if not ids:
        raise GenerationError(messages.EMPTY_TEXT, number=number, name=speaker.name)
    if len(ids) > model.spec.context:
        values = {"name": speaker.name, "found": len(ids), "context": model.spec.context}
        raise GenerationError(messages.SOURCE_TOO_LONG, **values)
    return ids
