"""Laws about what a row may depend on: itself, and nothing around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from clearformer import spec as s
from clearformer.laws import Law
from drawing.inputs import batch
from drawing.models import VOCABULARY
from law_testers.subject import END, ROWS, Pair, Subject, terms_of

LENGTHS = (6, 4, 1)


def determinism(law: Law, subject: Subject) -> Iterator[Pair]:
    if isinstance(subject.spec, s.TwoTowers):
        texts, real, images = _towers(subject)
        yield _likeness(subject, texts, real, images), _likeness(subject, texts, real, images)
        return
    data, how = _rows(law, subject)
    yield subject.answer(data, **how), subject.answer(data, **how)


def batch_independence(law: Law, subject: Subject) -> Iterator[Pair]:
    if isinstance(subject.spec, s.TwoTowers):
        texts, real, images = _towers(subject)
        together = _likeness(subject, texts, real, images)
        for row in range(ROWS):
            one = slice(row, row + 1)
            yield _likeness(subject, texts[one], real[one], images), together[one]
            yield _likeness(subject, texts, real, images[one]), together[:, one]
        return
    data, how = _rows(law, subject)
    together = subject.answer(data, **how)
    for row in range(ROWS):
        one = slice(row, row + 1)
        alone = subject.answer(data[one], rows=one, **{name: value[one] for name, value in how.items()})
        keep = _real_answers(together[one], how.get("real"), one)
        yield alone[keep], together[one][keep]


def padding_independence(law: Law, subject: Subject) -> Iterator[Pair]:
    """Each row alone without padding, against the batch padded on the right, on both sides and on the left."""
    sentences = [subject.ids(length)[:1] for length in LENGTHS]
    terms = terms_of(law, subject, prefix=torch.tensor([3, 0, 1]))
    alone = [_solo(subject, row, sentence, terms) for row, sentence in enumerate(sentences)]
    width = max(LENGTHS) + 2
    for starts in ((0, 0, 0), (1, 2, 3), tuple(width - length for length in LENGTHS)):
        padded = torch.from_numpy(subject.rng.integers(0, VOCABULARY, (ROWS, width)))
        spans = [slice(start, start + length) for start, length in zip(starts, LENGTHS, strict=True)]
        real = torch.zeros(ROWS, width, dtype=torch.bool)
        for row, span in enumerate(spans):
            padded[row, span], real[row, span] = sentences[row][0], True
        together = subject.answer(padded, real=real, **terms)
        for row, span in enumerate(spans):
            inside = together[row, span] if isinstance(subject.spec.head, s.Language | s.Hidden) else together[row]
            yield inside, alone[row]


def _solo(subject: Subject, row: int, sentence: Tensor, terms: dict[str, Tensor]) -> Tensor:
    """One row's answer, its source without padding too."""
    if subject.source is not None and subject.source_real is not None:
        source = subject.source[row : row + 1, subject.source_real[row]]
        subject = replace(subject, source=source, source_real=None)
    return subject.answer(sentence, **{name: value[row : row + 1] for name, value in terms.items()})[0]


def _rows(law: Law, subject: Subject) -> tuple[Tensor, dict[str, Tensor]]:
    """A batch of unequal rows, with prefixes where the spec has them."""
    drawn = batch(subject.stack.input, subject.rng)
    data, real = subject.tensor(drawn.data), subject.tensor(drawn.real)
    if real is None:
        return data, {}
    return data, {"real": real, **terms_of(law, subject, prefix=torch.tensor([3, 2, 0]))}


def _towers(subject: Subject) -> tuple[Tensor, Tensor, Tensor]:
    assert isinstance(subject.spec, s.TwoTowers)
    texts = batch(s.main_stack(subject.spec.text).input, subject.rng)
    images = batch(subject.spec.image.encoder.input, subject.rng)
    assert (texts.data == END).any(1).all()
    return subject.tensor(texts.data), subject.tensor(texts.real), subject.tensor(images.data)


@torch.no_grad()
def _likeness(subject: Subject, texts: Tensor, real: Tensor, images: Tensor) -> Tensor:
    return subject.model(texts, images, real=real)


def _real_answers(answer: Tensor, real: Tensor | None, rows: slice) -> Tensor:
    """True at answers that mean something: those at pads do not."""
    if real is not None and answer.dim() == 3 and answer.shape[1] == real.shape[1]:
        return real[rows]
    return torch.ones(answer.shape[0], dtype=torch.bool)
