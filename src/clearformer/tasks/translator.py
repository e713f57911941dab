"""A trained translator at work: from sentences to their translations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clearformer.errors import GenerationError, UsageError
from clearformer.generate.speaker import tokenizer_of
from clearformer.load import Loaded
from clearformer.messages import tasks_translation as say
from clearformer.model import EncoderDecoder
from clearformer.tasks.parallel_text import SOURCE, encode_source, marks_of
from clearformer.tasks.translating import Beams, translate_ids
from clearformer.text.fast import FastTokenizer
from clearformer.text.load import TOKENIZER, tokenizer_from_folder
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
    source, target = _tokenizers(loaded)
    rows = [encode_source(source, text) for text in texts]
    for number, (text, row) in enumerate(zip(texts, rows, strict=True), start=1):
        if not text.strip():
            raise GenerationError(say.EMPTY_TEXT, number=number)
        if len(row) > model.spec.context:
            raise GenerationError(say.TEXT_TOO_LONG, number=number, found=len(row), context=model.spec.context)
    answers = translate_ids(model, rows, marks_of(source, target), beams, progress=progress)
    found = zip(texts, answers, strict=True)
    return [Translated(text, target.decode(ids), score) for text, (ids, score) in found]


def _tokenizers(loaded: Loaded) -> tuple[FastTokenizer, FastTokenizer]:
    """The source's and the target's; the same one where they share a vocabulary."""
    target = tokenizer_of(loaded)
    assert isinstance(target, FastTokenizer)
    folder = None if loaded.path is None else loaded.path / SOURCE
    return (tokenizer_from_folder(folder) if folder and (folder / TOKENIZER).is_file() else target), target
