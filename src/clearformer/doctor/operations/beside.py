"""A module beside one that is known to be right: where they part, and what would bring them together."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from clearformer.doctor.calling.finding_out import find_out
from clearformer.doctor.calling.subject import Subject, evaluating
from clearformer.doctor.operations.following import Followed
from clearformer.doctor.operations.operation import PRODUCTS, Operation
from clearformer.doctor.operations.recording import record

if TYPE_CHECKING:
    from clearformer.doctor.examination import Examination

LENGTHS = (7, 24, 48)
QUERY_OR_KEY = re.compile(r"(^|[._])(q|k|wq|wk|query|key|q_proj|k_proj|to_q|to_k|q_lin|k_lin|w_q|w_k)$", re.IGNORECASE)
TOGETHER = re.compile(r"(^|[._])(qkv|qkv_proj|c_attn|in_proj|query_key_value|wqkv|to_qkv)$", re.IGNORECASE)


def reference_of(examination: Examination) -> Subject:
    """The reference with the module's weights, where it takes them, called as the module is, where it can be."""
    if examination.beside is None:
        examination.beside = _reference_of(examination)
    return examination.beside


def _reference_of(examination: Examination) -> Subject:
    subject, reference = examination.asked, examination.parts.reference
    assert reference is not None
    weights, own = subject.module.state_dict(), reference.state_dict()
    fits = weights.keys() == own.keys() and all(weights[key].shape == own[key].shape for key in own)
    if fits and not all(torch.equal(weights[key], own[key]) for key in own):
        reference = copy.deepcopy(reference)
        reference.load_state_dict(weights)
    same = replace(subject, module=reference)
    try:
        with evaluating(reference):
            same.answer(same.inputs(1, same.length(LENGTHS[0]), examination.generator()))
    except Exception:
        return find_out(replace(examination.parts, model=reference))[0]
    return same


def apart(examination: Examination, reference: Subject) -> list[tuple[int, float]]:
    """(length, distance in noise floors) for each length at which the two differ."""
    subject, found = examination.asked, []
    with evaluating(reference.module):
        for length in dict.fromkeys(subject.length(each) for each in LENGTHS):
            inputs = subject.inputs(2, length, examination.generator())
            mine, right = subject.answer(inputs), reference.answer(inputs)
            if mine.shape != right.shape or examination.noise.differs(mine, right):
                distance = examination.noise.moved(mine, right) if mine.shape == right.shape else float("inf")
                found.append((length, distance))
    return found


def first_parting(examination: Examination, reference: Subject) -> str | None:
    """The first submodule, in the order in which they end, whose output differs from its namesake's."""
    subject = examination.asked
    inputs = subject.inputs(2, subject.length(LENGTHS[0]), examination.generator())
    mine, right = _outputs(subject, inputs), _outputs(reference, inputs)
    for name, output in mine.items():
        other = right.get(name)
        if name and other is not None and (output.shape != other.shape or examination.noise.differs(output, other)):
            return name
    return None


def _outputs(subject: Subject, inputs: Tensor) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    handles = []
    for name, module in subject.module.named_modules():

        def keep(_: nn.Module, __: Any, output: Any, name: str = name) -> None:
            first = output[0] if isinstance(output, tuple) and output else output
            if isinstance(first, Tensor):
                found.setdefault(name, first.detach())

        handles.append(module.register_forward_hook(keep))
    try:
        with evaluating(subject.module):
            subject.answer(inputs)
    finally:
        for handle in handles:
            handle.remove()
    return found


@contextmanager
def other_layout(examination: Examination) -> Iterator[None]:
    """Query and key rows in the other rotary layout: pairs for halves, or halves for pairs, whichever comes nearer."""
    subject = examination.asked
    reference = reference_of(examination)
    sites = record(subject, examination.generator()).sites
    projections = list(_projections(subject.module, sites[0].width)) if sites else []
    kept = [(weight, weight.detach().clone()) for weight, _ in projections]
    try:
        best = []
        for way in (True, False):
            _permute(projections, way)
            best.append((sum(distance for _, distance in apart(examination, reference)), way))
            _restore(kept)
        _permute(projections, min(best)[1])
        yield
    finally:
        _restore(kept)


def _projections(module: nn.Module, width: int) -> Iterator[tuple[Tensor, Tensor]]:
    """(weight or bias, its rows as heads, to be changed in place): those of queries and keys."""
    for name, each in module.named_modules():
        whole = bool(QUERY_OR_KEY.search(name))
        if not isinstance(each, nn.Linear) or not (whole or TOGETHER.search(name)):
            continue
        rows = each.out_features if whole else each.out_features * 2 // 3
        if rows % width:
            continue
        for weight in (each.weight, each.bias):
            if weight is not None:
                data = weight.detach()
                yield data, data[:rows].view(rows // width, width, *data.shape[1:])


def _permute(projections: list[tuple[Tensor, Tensor]], to_pairs: bool) -> None:
    for _, heads in projections:
        width = heads.shape[1]
        halves = torch.arange(width).view(2, width // 2).T.flatten()
        order = halves if to_pairs else halves.argsort()
        heads.copy_(heads[:, order].clone())


def _restore(kept: list[tuple[Tensor, Tensor]]) -> None:
    for weight, numbers in kept:
        weight.copy_(numbers)


def regroup(operation: Operation, known: Followed) -> Operation:
    """Key and value heads that are laid out tile after tile are repeated in place instead, or the other way round."""
    if operation.name not in PRODUCTS and operation.name != "fused attention":
        return operation
    args = tuple(_regrouped(each, known) for each in operation.args)
    if all(one is other for one, other in zip(args, operation.args, strict=True)):
        return operation
    return replace(operation, args=args)


def _regrouped(value: Any, known: Followed) -> Any:
    if not isinstance(value, Tensor) or value.ndim != 4:
        return value
    trail = known.of(value)
    if trail is None or trail.role != "plain":
        return value
    for axis in (1, 2):
        heads = value.shape[axis]
        for kinds in range(1, heads):
            if heads % kinds or kinds == 1:
                continue
            shares = heads // kinds
            one = value.narrow(axis, 0, kinds)
            each = value.index_select(axis, torch.arange(0, heads, shares, device=value.device))
            repeats = [1] * 4
            repeats[axis] = shares
            if torch.equal(value, one.repeat(repeats)):
                fresh = one.repeat_interleave(shares, axis)
            elif torch.equal(value, each.repeat_interleave(shares, axis)):
                fresh = each.repeat(repeats)
            else:
                continue
            known.put(fresh, trail)
            return fresh
    return value
