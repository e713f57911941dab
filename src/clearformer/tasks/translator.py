"""A trained translator at work: from sentences to their translations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clearformer.errors import GenerationError, UsageError
from clearformer.generate.speaker import end_ids, never_ids, prompt_ids, start_ids, tokenizer_of
from clearformer.load import Loaded
from clearformer.messages import tasks_translation as say
from clearformer.model import EncoderDecoder
from clearformer.tasks.translating import Beams, Marks, translate_ids
from clearformer.train.task import Progress


@dataclass(frozen=True)
class Translated:
    """A sentence, its translation, and the translation's log-probability over the length penalty."""

    text: str
    translation: str
    score: float


def translate(
    loaded: Loaded,
    texts: Sequence[str],
    *,
    beams: Beams = Beams(),  # noqa: B008 - frozen
    progress: Progress | None = None,
) -> list[Translated]:
    """The translation of each text, in the order given; each is what it would be alone.

    Raises UsageError for a model that translates nothing or for no texts, GenerationError for a text that is empty or
    longer than the context.
    """
    model = loaded.model
    if not isinstance(model, EncoderDecoder):
        raise UsageError(say.NO_TRANSLATOR, name=loaded.name, found=type(model.spec).__name__)
    if isinstance(texts, str) or not texts:
        raise UsageError(say.NO_TEXTS)
    rows = []
    for number, text in enumerate(texts, start=1):
        row = prompt_ids(loaded, text)
        if not text.strip():
            raise GenerationError(say.EMPTY_TEXT, number=number)
        if len(row) > model.spec.context:
            raise GenerationError(say.TEXT_TOO_LONG, number=number, found=len(row), context=model.spec.context)
        rows.append(row)
    begin, *forced = start_ids(loaded)
    marks = Marks(begin, end_ids(loaded), tuple(forced), never_ids(loaded))
    answers = translate_ids(model, rows, marks, beams, progress=progress)
    tokenizer, found = tokenizer_of(loaded), zip(texts, answers, strict=True)
    return [Translated(text, tokenizer.decode(ids), score) for text, (ids, score) in found]
