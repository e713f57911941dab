"""K21: a model that has learnt nothing is not sure of anything: its loss on random tokens is near ln V."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.doctor.operations.finite import first_not_finite
from clearformer.messages import doctor_output as say

ALLOWED = 2.0
"""Nats above ln V: logits with a standard deviation of two."""


def _probe(examination: Examination) -> Iterator[Breach]:
    subject, generator = examination.asked, examination.generator()
    vocab_size = examination.parts.vocab_size or 0
    inputs = subject.inputs(4, subject.length(24), generator)
    logits = subject.answer(inputs).detach().double()
    if bool((logits.isnan() | logits.isposinf()).any()):
        yield from _not_numbers(examination, logits)
        return
    if logits.ndim != 3 or logits.shape[-1] < max(vocab_size, 2) or subject.call.takes != "ids":
        raise NotApplicable(say.NO_LOGITS)
    if not bool(logits.isfinite().all()):
        raise NotApplicable(say.NOT_NUMBERS)
    if _are_probabilities(logits):
        yield Breach("K21", "WARN", (Said(say.PROBABILITIES),), ("probabilities as logits",), law="probabilities")
        return
    if not _untrained(subject.module):
        raise NotApplicable(say.TRAINED)
    targets = torch.randint(0, vocab_size, logits.shape[:2], generator=generator).to(logits.device)
    loss = float(nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten()))
    expected = math.log(logits.shape[-1])
    if loss > expected + ALLOWED:
        values = {"loss": loss, "expected": expected, "spread": float(logits.std(-1).mean())}
        yield Breach("K21", "WARN", (Said(say.SURE_AT_START, values),), ("initial scale",), law="scale")


def _not_numbers(examination: Examination, logits: Tensor) -> Iterator[Breach]:
    """Answers that are none. Where another law is broken already, or whole positions alone, other laws say more."""
    none = (~logits.isfinite()).flatten(2) if logits.ndim > 2 else (~logits.isfinite())
    by_position = bool((none.all(-1) == none.any(-1)).all()) and not bool(none.all())
    if by_position or any(breach.severity == "ERROR" for breach in examination.breaches):
        raise NotApplicable(say.NOT_NUMBERS)
    subject = examination.asked
    wrong = int((~logits.isfinite()).sum())
    inputs = subject.inputs(4, subject.length(24), examination.generator())
    where = first_not_finite(subject.module, lambda: subject.answer(inputs))
    said = Said(say.ANSWERS_NOT_FINITE, {"wrong": wrong, "of": logits.numel()})
    yield Breach(
        "K21", "ERROR", (said,), ("answers not finite", "mask inverted", "no causal mask"), where, law="not finite"
    )


def _are_probabilities(logits: torch.Tensor) -> bool:
    sums = logits.sum(-1)
    return bool((logits >= 0).all()) and bool((sums - 1).abs().max() < 1e-3)


def _untrained(module: nn.Module) -> bool:
    """Whether every norm still has the gain with which it was made: training moves them all."""
    norms = [each for each in module.modules() if "norm" in type(each).__name__.lower()]
    gains = [gain for each in norms if isinstance(gain := getattr(each, "weight", None), torch.Tensor)]
    return bool(gains) and all(bool((gain == gain.flatten()[0]).all()) for gain in gains)


START = Check(
    "K21", "loss at start", say.START, say.START_RISK, _probe, closes=True,
    kinds=("decoder", "encoder", "encoder-decoder"),
)  # fmt: skip
