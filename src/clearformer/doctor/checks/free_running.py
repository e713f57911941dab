"""K25: what is known by heart with a teacher is also said without one."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from clearformer.doctor.calling.subject import Subject
from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.doctor.forms.batches import IGNORED
from clearformer.doctor.forms.losses import LossForm, loss_form
from clearformer.messages import doctor_loss as say

ROWS, LENGTH, PROMPT = 3, 12, 3
STEPS, MOST_SECONDS = 200, 9.0
LEARNT = 0.05
"""Nats per token under which a batch is known by heart."""


def _probe(examination: Examination) -> Iterator[Breach]:
    if explained := [breach.check for breach in examination.breaches if breach.severity == "ERROR"]:
        raise NotApplicable(say.EXPLAINED, check=explained[0])
    subject = examination.asked
    length = subject.length(LENGTH)
    if subject.call.takes != "ids" or length < PROMPT + 3 or subject.vocab_size < 12:
        raise NotApplicable(say.NOTHING_BY_HEART)
    pupil = replace(subject, module=copy.deepcopy(subject.module))
    ids = _rows(subject, length, examination.generator())
    loss, steps = _learn(pupil, ids, _loss(examination))
    if loss > LEARNT:
        raise NotApplicable(say.NOT_LEARNT, loss=loss, steps=steps)
    said = _said(pupil, ids)
    wrong = int((said[:, PROMPT:] != ids[:, PROMPT:]).sum())
    if wrong:
        values = {"loss": loss, "steps": steps, "wrong": wrong, "of": ids[:, PROMPT:].numel()}
        yield Breach(
            "K25", "ERROR", (Said(say.NOT_SAID, values),), ("teacher and free run apart", *_suspects(examination))
        )


def _suspects(examination: Examination) -> tuple[str, ...]:
    return ("labels not shifted", "labels shifted twice") if examination.parts.loss is not None else ("no causal mask",)


def _rows(subject: Subject, length: int, generator: torch.Generator) -> Tensor:
    """Rows that part at their first token, so that each prompt has one continuation."""
    ids = subject.inputs(ROWS, length, generator)
    first = 4 if subject.vocab_size > 8 else 0
    ids[:, 0] = torch.arange(first, first + ROWS).to(ids)
    return ids


def _loss(examination: Examination) -> LossForm | None:
    if examination.parts.loss is None:
        return None
    try:
        form = loss_form(examination)
    except NotApplicable:
        return None
    # Whether labels come in moved on must be known, or a sound loss would be taught with the wrong ones.
    return form if form.takes_logits and form.aim != "open" else None


def _learn(pupil: Subject, ids: Tensor, form: LossForm | None) -> tuple[float, int]:
    """The last loss, and after how many steps: the user's loss where it takes logits, else the next token's."""
    parameters = [parameter for parameter in pupil.module.parameters() if parameter.requires_grad]
    if not parameters:
        raise NotApplicable(say.NOTHING_BY_HEART)
    optimizer = torch.optim.AdamW(parameters, lr=3e-3, weight_decay=0.0)
    begun, steps = time.monotonic(), 0
    while True:
        logits = pupil.answer(ids, gradient=True)
        if form is None:
            loss = F.cross_entropy(logits[:, :-1].flatten(0, 1).float(), ids[:, 1:].flatten())
        else:
            loss = form.ask(form.own(ids, None, IGNORED), partial(_cut, logits)).mean()
        if loss.item() < LEARNT / 2 or steps == STEPS or time.monotonic() - begun > MOST_SECONDS:
            return loss.item(), steps
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        steps += 1


def _cut(logits: Tensor, read: Tensor) -> Tensor:
    return logits[:, : read.shape[1]]


def _said(pupil: Subject, ids: Tensor) -> Tensor:
    """Each row's prompt, continued with the most probable token (B T)."""
    said = ids[:, :PROMPT]
    while said.shape[1] < ids.shape[1]:
        said = torch.cat([said, pupil.answer(said)[:, -1:].argmax(-1)], 1)
    return said


FREE_RUNNING = Check(
    "K25", "teacher and free run", say.FREE_RUNNING, say.FREE_RUNNING_RISK, _probe, kinds=("decoder",), quick=False
)  # fmt: skip
