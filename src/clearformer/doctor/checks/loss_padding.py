"""K23: padding changes no loss, and neither does the company a row is in."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.checks.shift import favouring
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.doctor.forms.arguments import source_of
from clearformer.doctor.forms.batches import IGNORED, Batch, read
from clearformer.doctor.forms.collators import collator_form
from clearformer.doctor.forms.losses import LossForm, loss_form
from clearformer.doctor.forms.planting import Plant
from clearformer.doctor.forms.special_ids import special_ids
from clearformer.messages import doctor_loss as say

SHORT, LONG = 4, 12
_NEAR = 2e-3
"""Relative difference of two losses that count as equal: rounding in half precision, and no more."""


@dataclass(frozen=True)
class Pair:
    """A short row, a long row, and both in one batch; `real` marks the batch's own positions (2 T)."""

    short: Batch
    long: Batch
    both: Batch
    real: Tensor


def _probe(examination: Examination) -> Iterator[Breach]:
    form = loss_form(examination)
    where = None if examination.parts.loss is None else source_of(examination.parts.loss)
    declared = examination.parts.collate is not None
    tried: list[tuple[str, dict[str, object]]] = []
    for pair in _collated(examination) if declared else _made(examination, form):
        try:
            found = _judged(form, pair)
        except Exception:
            if declared:
                raise
            continue
        if found is None:
            yield from _company(form, pair, where)
            return
        tried.append(found)
    if not tried:
        raise NotApplicable(say.NOTHING_IGNORED)
    # Of several markers, the one that came nearest to being ignored tells most.
    cause, values = min(tried, key=lambda each: each[0] == _COUNTED)
    if not declared and special_ids(examination.parts).pad is None and cause == _COUNTED:
        # Perhaps nothing is ever padded: then it ignores nothing because it need not.
        yield Breach("K23", "INFO", (Said(say.NOTHING_IGNORED),), (cause,), where)
        return
    rivals = ("labels out of step with the ids",) if cause == _COUNTED and declared else ()
    yield Breach("K23", "ERROR", (Said(_EVIDENCE[cause], values),), (cause, *rivals), where)


_COUNTED, _SMOOTHED, _DIVIDED = (
    "padding counted in the loss",
    "smoothing counts the padding",
    "loss divided by padded length",
)
_EVIDENCE = {_COUNTED: say.PADS_COUNT, _SMOOTHED: say.SMOOTHING_COUNTS, _DIVIDED: say.LENGTH_DIVIDES}


def _judged(form: LossForm, pair: Pair) -> tuple[str, dict[str, object]] | None:
    """The cause by which padding enters, with its evidence; None where it does not."""
    flat = _flat(form.vocab_size)
    alone = [form.ask(batch, flat).detach() for batch in (pair.short, pair.long)]
    together = form.ask(pair.both, flat).detach()
    loud = form.ask(pair.both, _loud(form.vocab_size, ~pair.real)).detach()
    values: dict[str, object] = {"together": float(together.mean()), "loud": float(loud.mean())}
    values |= {"short": float(alone[0].mean()), "long": float(alone[1].mean())}
    if not _equal(together, loud):
        return (_COUNTED if _one_hot(form, pair) else _SMOOTHED), values
    if together.ndim:
        expected = [torch.cat([each.reshape(-1) for each in alone])]
    elif _equal(*alone):
        expected = [alone[0]]
    else:
        expected = [alone[0] + alone[1], (alone[0] + alone[1]) / 2]
    return None if any(_equal(together, each) for each in expected) else (_DIVIDED, values)


def _company(form: LossForm, pair: Pair, where: str | None) -> Iterator[Breach]:
    """What a row weighs beside another, and what a row without any target does."""
    long_alone = form.ask(pair.long, _flat(form.vocab_size)).detach()
    emptied = _emptied(pair.both)
    if emptied is not None:
        value = form.ask(emptied, _flat(form.vocab_size)).detach()
        if not value.isfinite().all():
            said = Said(say.EMPTY_ROW, {"value": float(value.mean())})
            yield Breach("K23", "ERROR", (said,), ("row without targets gives NaN",), where)
    first = torch.arange(2)[:, None, None] == 0

    def uneven(ids: Tensor) -> Tensor:
        return torch.where(first, torch.zeros(()), favouring(ids, 1, form.vocab_size)) if len(ids) == 2 else flat(ids)

    flat = _flat(form.vocab_size)
    value = form.ask(pair.both, uneven).detach()
    if value.ndim == 0 and _equal(long_alone, form.ask(pair.short, flat).detach()) and float(long_alone) > 0:
        share = float(value) / float(long_alone)
        if 0.45 < share < 0.55:
            yield Breach(
                "K23", "INFO", (Said(say.ROWS_FIRST, {"share": share}),), ("rows averaged before the batch",), where
            )


def _flat(vocab_size: int) -> Plant:
    return lambda ids: torch.full((*ids.shape, vocab_size), -math.log(vocab_size))


def _loud(vocab_size: int, pads: Tensor) -> Plant:
    """Flat where the batch is real; at pads nearly all probability on one token that is no mark."""

    def plant(ids: Tensor) -> Tensor:
        logits = _flat(vocab_size)(ids)
        loud = torch.zeros(vocab_size)
        loud[vocab_size - 2] = 20.0
        here = pads[:, : ids.shape[1]] if ids.shape[0] == len(pads) else torch.zeros(ids.shape, dtype=torch.bool)
        logits[here] = loud.log_softmax(-1)
        return logits

    return plant


def _one_hot(form: LossForm, pair: Pair) -> bool:
    """Whether at a pad one token is asked for, as by a label; smoothing asks for all alike."""
    logits = _loud(form.vocab_size, torch.zeros_like(pair.real))(pair.both.ids).requires_grad_()
    with torch.enable_grad():
        form.ask(pair.both, lambda ids: logits[:, : ids.shape[1]]).sum().backward()
    if logits.grad is None:
        return True
    pull = -logits.grad[~pair.real]
    return bool((pull.amax(-1) > 2 * pull.abs().median(-1).values + 1e-12).any())


def _equal(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(
        one.double(), other.double(), rtol=_NEAR, atol=1e-6, equal_nan=True
    )


def _collated(examination: Examination) -> Iterator[Pair]:
    form = collator_form(examination)
    if not form.ragged:
        raise NotApplicable(say.NO_PADDING)
    marks = special_ids(examination.parts)
    end = [] if marks.eos is None else [marks.eos]
    low, high = 4, min(examination.parts.vocab_size or 29, 400) - 3
    rows = [
        [low + (step * place) % (high - low) for place in range(length)] + end
        for step, length in ((3, SHORT), (5, LONG))
    ]
    short, long, both = (form.batch([(row[:1], row[1:]) for row in some]) for some in (rows[:1], rows[1:], rows))
    width, kept = both.ids.shape[1], short.ids.shape[1]
    if kept >= width:
        raise NotApplicable(say.NO_PADDING)
    at = torch.arange(width)
    left = not torch.equal(both.ids[0, :kept], short.ids[0]) and torch.equal(both.ids[0, width - kept :], short.ids[0])
    yield Pair(short, long, both, torch.stack([at >= width - kept if left else at < kept, at >= 0]))


def _made(examination: Examination, form: LossForm) -> Iterator[Pair]:
    """Batches of the doctor's own, once for each way of marking a label that does not count."""
    marks = special_ids(examination.parts)
    generator = examination.generator()
    ids = torch.randint(min(4, form.vocab_size - 3), form.vocab_size - 2, (2, LONG), generator=generator)
    pad = marks.pad or 0
    for ignored in dict.fromkeys((IGNORED, pad, -1, 0)):
        real = torch.arange(LONG)[None] < torch.tensor([[SHORT], [LONG]])
        both = form.own(ids.masked_fill(~real, pad), real, ignored)
        yield Pair(
            form.own(ids[:1, :SHORT], None, ignored), form.own(ids[1:], None, ignored), both,
            real[:, : both.ids.shape[1]],
        )  # fmt: skip


def _emptied(batch: Batch) -> Batch | None:
    """The batch with the first row's labels all ignored; None where labels are not the batch's."""
    if batch.labels is None or not (batch.labels == IGNORED).any():
        return None
    labels = batch.labels.clone()
    labels[0] = IGNORED
    if batch.raw is None:
        return replace(
            batch, labels=labels, mask=None if batch.mask is None else batch.mask.masked_fill(_row(batch), 0)
        )
    raw: Any = _exchanged(batch.raw, batch.labels, labels)
    return None if raw is None else replace(read(raw), ids=batch.ids)


def _row(batch: Batch) -> Tensor:
    assert batch.mask is not None
    return (torch.arange(len(batch.mask)) == 0)[:, None].expand_as(batch.mask)


def _exchanged(raw: Any, old: Tensor, new: Tensor) -> Any:
    if isinstance(raw, dict):
        return type(raw)({name: new if value is old else value for name, value in raw.items()})
    if isinstance(raw, (tuple, list)):
        return type(raw)(new if value is old else value for value in raw)
    return None


LOSS_PADDING = Check(
    "K23", "padding invariance of loss", say.LOSS_PADDING, say.LOSS_PADDING_RISK, _probe, needs=(),
    kinds=("decoder", "encoder-decoder"),
)  # fmt: skip
