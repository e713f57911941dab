"""K13: the order of the tokens matters, and a table of positions is what it matters by."""

from __future__ import annotations

import re
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from clearformer.doctor.calling.signature import innermost
from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.messages import doctor_positions as say

_TABLE = re.compile(r"(^|[._])w?(pe|pos\w*|place\w*)([._]|$)", re.IGNORECASE)

COARSE = 1e-4
"""Number types with fewer bits cannot tell the order's small effect at the start from rounding."""


def _probe(examination: Examination) -> Iterator[Breach]:
    subject = examination.asked
    if subject.call.takes != "ids":
        raise NotApplicable(say.NO_IDS)
    tables = _tables(innermost(subject.module))
    yield from _used(examination, tables)
    if not subject.per_position or torch.finfo(subject.dtype).eps > COARSE:
        return
    inputs = subject.inputs(2, subject.length(12), examination.generator())
    if subject.kind != "encoder":
        unseen = _same_when_swapped(examination, inputs)
    else:
        unseen = _moves_with_its_tokens(examination, inputs)
    if unseen:
        yield Breach("K13", "WARN", (Said(say.ORDER_UNSEEN),), ("order unseen", "positions unused"), law="order")


def _tables(module: nn.Module) -> dict[str, Tensor]:
    """Learned tables whose name says that they hold positions."""
    return {
        name: each
        for name, each in module.named_parameters()
        if _TABLE.search(name) and each.ndim in (2, 3) and each.requires_grad and max(each.shape[:-1]) > 3
        and "bias" not in name
    }  # fmt: skip


def _used(examination: Examination, tables: dict[str, Tensor]) -> Iterator[Breach]:
    """Rows of each table that the answer depends on: as many as there are positions."""
    if not tables:
        return
    subject, generator = examination.asked, examination.generator()
    rows, length = 2, subject.length(9)
    inputs = subject.inputs(rows, length, generator)
    with torch.enable_grad():
        answer = subject.answer(inputs, gradient=True)
        if not answer.requires_grad:
            return
        weights = torch.randn(answer.shape, generator=generator).to(answer)
        gradients = torch.autograd.grad((answer * weights).sum(), list(tables.values()), allow_unused=True)
    for name, gradient in zip(tables, gradients, strict=True):
        used = 0 if gradient is None else int(gradient.reshape(-1, gradient.shape[-1]).abs().amax(-1).gt(0).sum())
        if (used >= min(length, 3) and used != rows) or (not used and _read(examination, inputs, tables[name])):
            continue
        values = {"table": name, "used": used, "length": length}
        suspects = ("positions on the batch axis", "positions unused") if used == rows else ("positions unused",)
        yield Breach("K13", "ERROR", (Said(say.TABLE_UNUSED, values),), suspects, where=name, law=name)


def _read(examination: Examination, inputs: Tensor, table: Tensor) -> bool:
    """Whether other numbers in the table give another answer: then it is read, and its gradient is cut (K19)."""
    subject, kept = examination.asked, table.detach().clone()
    before = subject.answer(inputs)
    try:
        with torch.no_grad():
            table.copy_(kept + torch.randn(kept.shape, generator=examination.generator()).to(kept))
        return examination.noise.differs(before, subject.answer(inputs))
    finally:
        with torch.no_grad():
            table.copy_(kept)


def _same_when_swapped(examination: Examination, inputs: Tensor) -> bool:
    """Whether the last answer is the same after the tokens before it have changed places."""
    subject, length = examination.asked, inputs.shape[1]
    order = torch.arange(length - 1, device=inputs.device).flip(0)
    order = torch.cat([order, order.new_tensor([length - 1])])
    before, after = subject.answer(inputs)[:, -1], subject.answer(inputs[:, order])[:, -1]
    return not examination.noise.differs(before, after)


def _moves_with_its_tokens(examination: Examination, inputs: Tensor) -> bool:
    """Whether each token takes its answer with it: then the input is a set."""
    subject = examination.asked
    order = torch.arange(inputs.shape[1], device=inputs.device).flip(0)
    return not examination.noise.differs(subject.answer(inputs)[:, order], subject.answer(inputs[:, order]))


ORDER = Check(
    "K13", "order sensitivity", say.ORDER, say.ORDER_RISK, _probe, kinds=("decoder", "encoder", "encoder-decoder")
)  # fmt: skip
