"""What a collator adds to its examples (a part of K24): padding among the labels, beginnings without ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

from clearformer.doctor.finding import Said, Severity
from clearformer.doctor.forms.batches import Batch
from clearformer.doctor.forms.collators import CollatorForm, Example
from clearformer.doctor.forms.special_ids import SpecialIds
from clearformer.messages import doctor_loss as say

Found = tuple[Severity, Said, str]


def pads_asked_for(batch: Batch, form: CollatorForm, examples: list[Example]) -> Iterator[Found]:
    """Labels under the usual name are handed to losses that ignore -100: an id at a pad is then a target."""
    named = isinstance(batch.raw, Mapping) and "labels" in batch.raw
    if not named or not form.ragged or batch.labels is None or batch.labels.shape != batch.ids.shape:
        return
    pads = _pads(batch, form, examples)
    asked = batch.labels[pads]
    if not asked.numel() or not bool((asked == batch.ids[pads]).all()) or len(asked.unique()) != 1:
        return
    values = {"count": asked.numel(), "pad": int(asked[0])}
    yield "WARN", Said(say.PADS_ASKED, values), "padding counted in the loss"


def _pads(batch: Batch, form: CollatorForm, examples: list[Example]) -> Tensor:
    """Where the batch has more than each example alone (B T), at whichever side."""
    length = batch.ids.shape[1]
    pads = torch.zeros(batch.ids.shape, dtype=torch.bool)
    for row, example in enumerate(examples):
        alone = form.batch([example]).ids[0]
        more = length - len(alone)
        if more > 0 and torch.equal(batch.ids[row, : len(alone)], alone):
            pads[row, len(alone) :] = True
        elif more > 0 and torch.equal(batch.ids[row, more:], alone):
            pads[row, :more] = True
    return pads


def begins_without_ending(form: CollatorForm, examples: list[Example], marks: SpecialIds) -> Iterator[Found]:
    """A collator that adds the beginning itself, and leaves the end to its examples, which here have none."""
    if marks.bos is None or marks.eos is None or marks.bos == marks.eos:
        return
    bare = [(prompt, answer[:-1] if answer[-1:] == [marks.eos] else answer) for prompt, answer in examples]
    ids = form.batch(bare).ids
    if bool((ids == marks.bos).any()) and not bool((ids == marks.eos).any()):
        values = {"bos": marks.bos, "eos": marks.eos}
        yield "WARN", Said(say.BEGINS_ONLY, values), "EOS never supervised"
