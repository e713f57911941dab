"""K22: the loss rewards the next token, no other."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said, Severity
from clearformer.doctor.forms.arguments import source_of
from clearformer.doctor.forms.batches import IGNORED, Batch
from clearformer.doctor.forms.collators import collator_form
from clearformer.doctor.forms.losses import LossForm, loss_form
from clearformer.messages import doctor_loss as say

OFFSETS = (-2, -1, 0, 1, 2, 3)
_CAUSES = {
    -2: "labels are the previous token",
    -1: "labels are the previous token",
    0: "labels not shifted",
    2: "labels shifted twice",
    3: "labels shifted twice",
}
_CLEAR = 0.5
"""The rewarded token's loss, as a share of that of logits that favour nothing."""


def _probe(examination: Examination) -> Iterator[Breach]:
    form = loss_form(examination)
    batch, sure = _batch(examination, form)
    where = None if examination.parts.loss is None else source_of(examination.parts.loss)
    with torch.no_grad():
        losses = {
            k: float(form.ask(batch, lambda ids, k=k: favouring(ids, k, form.vocab_size)).mean())  # type: ignore[misc]
            for k in OFFSETS
        }
        flat = float(form.ask(batch, lambda ids: torch.zeros(*ids.shape, form.vocab_size)).mean())
    if not all(math.isfinite(value) for value in (*losses.values(), flat)):
        raise NotApplicable(say.LOSS_NOT_FINITE)
    best = min(losses, key=lambda k: losses[k])
    spread = max(losses.values()) - losses[best]
    values = {"offset": best, "loss": losses[best], "right": losses[1], "flat": flat}
    if spread <= 1e-4 * max(abs(flat), 1e-9):
        yield Breach("K22", "ERROR", (Said(say.HEARS_NOTHING, values),), ("loss ignores the logits",), where)
        return
    if best != 1:
        # Labels whose name does not say who moves them on may rightly be taken as they are.
        severity: Severity = "ERROR" if sure or best != 0 else "WARN"
        evidence = (Said(say.REWARDS_ANOTHER, values), *(() if sure or best != 0 else (Said(say.UNLESS_MOVED),)))
        yield Breach("K22", severity, evidence, (_CAUSES[best],), where, {"offset": best, "loss": losses})
    elif flat > 0 and losses[1] > _CLEAR * flat and form.vocab_size > 8:
        yield Breach("K22", "ERROR", (Said(say.NEVER_SMALL, values),), ("softmax before the loss",), where)


def favouring(ids: Tensor, offset: int, vocab_size: int) -> Tensor:
    """Log-probabilities that put nearly all on the token `offset` places on; on no token beyond the ends (B T V)."""
    at = torch.arange(ids.shape[1]) + offset
    inside = (at >= 0) & (at < ids.shape[1])
    wanted = ids[:, at.clamp(0, ids.shape[1] - 1)].clamp(min=0)
    strong = (math.log(vocab_size) + 5.0) * torch.nn.functional.one_hot(wanted, vocab_size)
    return (strong * inside[None, :, None]).log_softmax(-1)


def _batch(examination: Examination, form: LossForm) -> tuple[Batch, bool]:
    """The batch that the loss is asked on, and whether it is sure who moves the labels on."""
    low, many = 4 if form.vocab_size > 24 else 1, 3
    if examination.parts.collate is not None:
        rows = [_row(12, low, form.vocab_size, examination, seed) for seed in range(many)]
        return collator_form(examination).batch([(row[:1], row[1:]) for row in rows]), True
    if examination.parts.kind == "encoder-decoder" and (form.takes_logits or examination.parts.loss is None):
        raise NotApplicable(say.NO_TARGET_SIDE)
    ids = torch.tensor([_row(13, low, form.vocab_size, examination, seed) for seed in range(many)])
    return form.own(ids, None, IGNORED), form.aim != "open"


def _row(length: int, low: int, vocab_size: int, examination: Examination, seed: int) -> list[int]:
    """Ids of which no two within three places are equal."""
    row: list[int] = []
    generator = torch.Generator().manual_seed(examination.seed + seed)
    while len(row) < length:
        drawn = int(torch.randint(low, vocab_size, (), generator=generator))
        if drawn not in row[-4:]:
            row.append(drawn)
    return row


SHIFT = Check(
    "K22", "shift oracle", say.SHIFT, say.SHIFT_RISK, _probe, needs=(), kinds=("decoder", "encoder-decoder")
)  # fmt: skip
