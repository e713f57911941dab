"""K24: what a collator asks for: ends, every row, ids that exist, positions that match; and padding is masked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.checks.collated_rows import begins_without_ending, pads_asked_for
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said, Severity
from clearformer.doctor.forms.arguments import source_of
from clearformer.doctor.forms.batches import IGNORED, Batch
from clearformer.doctor.forms.collators import CollatorForm, Example, collator_form
from clearformer.doctor.forms.losses import LossForm, loss_form
from clearformer.doctor.forms.special_ids import SpecialIds, special_ids
from clearformer.messages import doctor as say_doctor
from clearformer.messages import doctor_loss as say

VERY_LONG = 3000
"""Tokens of a prompt that any truncation would cut."""


@dataclass(frozen=True)
class Rows:
    """Examples with prompts and answers of different ids, so that each label tells where it comes from."""

    examples: Sequence[Example]
    prompts: frozenset[int]

    @staticmethod
    def made(vocab_size: int, marks: SpecialIds, sizes: Sequence[tuple[int, int]]) -> Rows:
        taken = {marks.pad, marks.bos, marks.eos, 0, 1, 2, 3}
        free = [word for word in range(min(vocab_size, 400)) if word not in taken] or [1, 2]
        half = max(1, len(free) // 2)
        end = [] if marks.eos is None else [marks.eos]
        examples = [
            ([free[(at * 3 + n) % half] for at in range(before)], [free[half + (at * 3 + n) % (len(free) - half)]
             for at in range(after)] + end)
            for n, (before, after) in enumerate(sizes)
        ]  # fmt: skip
        return Rows(examples, frozenset(free[:half]))


def _probe(examination: Examination) -> Iterator[Breach]:
    parts, marks = examination.parts, special_ids(examination.parts)
    vocab = parts.vocab_size or 29
    if parts.collate is None:
        if parts.loss is None or marks.eos is None:
            raise NotApplicable(say_doctor.NEEDS["collate"])
        yield from _end_in_own_batch(examination, marks.eos)
        return
    form, where = collator_form(examination), source_of(parts.collate)
    sizes = ((3, 3), (4, 6), (2, 4)) if form.ragged else ((3, 3), (3, 3))
    rows = Rows.made(vocab, marks, sizes)
    batch = form.batch(rows.examples)
    found = [*_ranges(batch, parts.vocab_size), *_mask(batch, form, rows)]
    if batch.labels is not None:
        found += [*_rows_with_targets(batch, form, rows), *_prompt(batch, form, rows)]
        if parts.loss is None:
            found += pads_asked_for(batch, form, list(rows.examples))
        if parts.kind != "encoder-decoder" and not any(cause == "label out of range" for _, _, cause in found):
            found += _alignment(batch)
    if marks.eos is not None and not {cause for _, _, cause in found} & _UNFIT_FOR_LOSS:
        found += _ends(examination, batch, marks.eos)
    if form.prompts and not any(cause == "EOS never supervised" for _, _, cause in found):
        found += begins_without_ending(form, list(rows.examples), marks)
    for severity, said, cause in found:
        yield Breach("K24", severity, (said,), (cause,), where)


Found = tuple[Severity, Said, str]
_UNFIT_FOR_LOSS = {"rows without targets", "label out of range", "ids beyond the vocabulary"}


def _ranges(batch: Batch, vocab_size: int | None) -> Iterator[Found]:
    if vocab_size is None:
        return
    if int(batch.ids.max()) >= vocab_size or int(batch.ids.min()) < 0:
        found = int(batch.ids.max() if batch.ids.max() >= vocab_size else batch.ids.min())
        yield "ERROR", Said(say.ID_OUTSIDE, {"found": found, "vocab": vocab_size}), "ids beyond the vocabulary"
    if batch.labels is not None:
        wrong = batch.labels[(batch.labels >= vocab_size) | ((batch.labels < 0) & (batch.labels != IGNORED))].unique()
        # One negative number other than -100 may be the loss's own ignore_index.
        if len(wrong) and not (len(wrong) == 1 and wrong[0] == -1):
            yield "ERROR", Said(say.LABEL_OUTSIDE, {"found": int(wrong[-1]), "vocab": vocab_size}), "label out of range"


def _mask(batch: Batch, form: CollatorForm, rows: Rows) -> Iterator[Found]:
    """Either polarity is a mask; one value at real tokens and at pads is none."""
    lengths = [int((form.batch([example]).ids).shape[1]) for example in rows.examples]
    if batch.mask is None or batch.mask.shape != batch.ids.shape or max(lengths) > batch.ids.shape[1]:
        return
    if min(lengths) == batch.ids.shape[1]:
        return
    pads = batch.ids.numel() - sum(lengths)
    ones = int((batch.mask != 0).sum())
    if ones in (batch.ids.numel(), 0):
        yield "WARN", Said(say.MASK_UNIFORM, {"pads": pads}), "collator's mask misses the pads"


def _rows_with_targets(batch: Batch, form: CollatorForm, rows: Rows) -> Iterator[Found]:
    assert batch.labels is not None
    empty = int((batch.labels < 0).all(-1).sum())
    if empty:
        yield "ERROR", Said(say.NO_TARGET, {"rows": empty, "of": len(batch.labels)}), "rows without targets"
    elif form.prompts and form.ragged:
        prompt, answer = rows.examples[0]
        cut = form.batch([(prompt * (VERY_LONG // len(prompt)), answer), rows.examples[1]])
        if cut.labels is not None and bool((cut.labels[0] < 0).all()):
            said = Said(say.CUT_TO_PROMPT, {"length": VERY_LONG, "kept": cut.ids.shape[1]})
            yield "WARN", said, "rows without targets"


def _prompt(batch: Batch, form: CollatorForm, rows: Rows) -> Iterator[Found]:
    if not form.prompts:
        return
    assert batch.labels is not None
    asked = set(batch.labels.unique().tolist())
    told = sorted(asked & rows.prompts)
    if told:
        yield (
            "WARN",
            Said(say.PROMPT_ASKED, {"count": int(torch.isin(batch.labels, torch.tensor(told)).sum())}),
            ("prompt supervised"),
        )
    first = {answer[0] for _, answer in rows.examples if len(set(answer)) == len(answer)}
    if not told and first and not first & asked and asked - {IGNORED}:
        yield "WARN", Said(say.FIRST_MISSING), "first answer token not supervised"


def _alignment(batch: Batch) -> Iterator[Found]:
    """At which distance the labels repeat the ids: 0 where the loss shifts, 1 where the collator did."""
    assert batch.labels is not None
    ids, labels = batch.ids, batch.labels
    if abs(ids.shape[1] - labels.shape[1]) > 1:
        yield "ERROR", Said(say.OTHER_LENGTH, {"ids": ids.shape[1], "labels": labels.shape[1]}), _OUT_OF_STEP
        return
    shares = {by: _matching(ids, labels, by) for by in (0, 1, 2, -1)}
    best = max(shares, key=lambda by: shares[by])
    values = {"offset": best, "share": shares[best]}
    if shares[best] < 0.9:
        yield "ERROR", Said(say.NO_DISTANCE, values), _OUT_OF_STEP
    elif best not in (0, 1):
        cause = "labels shifted twice" if best == 2 else "labels are the previous token"
        yield "ERROR", Said(say.AT_DISTANCE, values), cause


_OUT_OF_STEP = "labels out of step with the ids"


def _matching(ids: Tensor, labels: Tensor, by: int) -> float:
    """The share of labels that are the id `by` places on; a row's last label may be an end that is no longer read."""
    matched = counted = 0
    for read, asked in zip(ids.tolist(), labels.tolist(), strict=True):
        places = [t for t, label in enumerate(asked) if label >= 0]
        for t in places[:-1] if by > 0 else places:
            if 0 <= t + by < len(read):
                counted += 1
                matched += read[t + by] == asked[t]
    return matched / counted if counted else 1.0


def _ends(examination: Examination, batch: Batch, eos: int) -> Iterator[Found]:
    """Every example ended in EOS: does the loss, or else every row's labels, ask for it?"""
    form = _loss(examination)
    if batch.labels is not None:
        missing = int((~(batch.labels == eos).any(-1)).sum())
        if missing:
            values = {"rows": missing, "of": len(batch.labels), "eos": eos}
            yield "ERROR", Said(say.END_NOT_ASKED, values), "EOS never supervised"
            return
    if form is not None and eos < form.vocab_size and not _asked_for(form, batch, eos):
        yield "ERROR", Said(say.END_NOT_REWARDED, {"eos": eos}), "EOS never supervised"


def _loss(examination: Examination) -> LossForm | None:
    try:
        return loss_form(examination)
    except NotApplicable:
        return None


def _asked_for(form: LossForm, batch: Batch, word: int) -> bool:
    """Whether the loss falls anywhere if `word` becomes more likely."""
    logits: list[Tensor] = []

    def plant(ids: Tensor) -> Tensor:
        logits.append(torch.zeros(*ids.shape, form.vocab_size, requires_grad=True))
        return logits[-1]

    with torch.enable_grad():
        value = form.ask(batch, plant)
        if value.requires_grad:
            value.sum().backward()
    return any(each.grad is not None and bool((each.grad[..., word] < 0).any()) for each in logits)


def _end_in_own_batch(examination: Examination, eos: int) -> Iterator[Breach]:
    form = loss_form(examination)
    if eos >= form.vocab_size or examination.parts.kind == "encoder-decoder":
        raise NotApplicable(say_doctor.NEEDS["collate"])
    ids = torch.randint(min(4, form.vocab_size - 2), form.vocab_size, (2, 8), generator=examination.generator())
    ids[ids == eos] = (eos + 1) % form.vocab_size
    ids[:, -1] = eos
    if not _asked_for(form, form.own(ids, None, IGNORED), eos):
        assert examination.parts.loss is not None
        said = Said(say.END_NOT_REWARDED, {"eos": eos})
        yield Breach("K24", "ERROR", (said,), ("EOS never supervised",), source_of(examination.parts.loss))


LABELS = Check(
    "K24", "label coverage", say.LABELS, say.LABELS_RISK, _probe, needs=(), kinds=("decoder", "encoder-decoder")
)
