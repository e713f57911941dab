"""A forward pass with one thing put right: what a module would do if it were mended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from clearformer.doctor.operations import masks, origins
from clearformer.doctor.operations.following import Followed
from clearformer.doctor.operations.operation import Operation
from clearformer.doctor.operations.tracker import Tracker

if TYPE_CHECKING:
    from clearformer.doctor.causes.cause import Mend
    from clearformer.doctor.examination import Examination

Edit = Callable[[Operation, Followed], Operation]


@dataclass(frozen=True)
class Edits:
    """An editor of one function."""

    edit: Edit

    def edited(self, operation: Operation, known: Followed) -> Operation:
        return self.edit(operation, known)


def by(edit: Edit) -> Mend:
    """The mend that applies an edit to every forward pass of the module under examination."""

    @contextmanager
    def mending(examination: Examination) -> Iterator[Tracker]:
        with editing(examination, Edits(edit)) as tracker:
            yield tracker

    return mending


@contextmanager
def editing(
    examination: Examination, *editors: Any, begin: Callable[[], None] = lambda: None, numbered: bool = True
) -> Iterator[Tracker]:
    """Forward passes are edited within; each begins with nothing known, and with `begin`.

    Without `numbered` tokens are not followed through reshapes, which takes half the time.
    """
    subject = examination.asked
    tracker = Tracker(*editors, batch_first=subject.call.batch_first, numbered=numbered)

    tracker.editing = False

    def entered(*_: Any) -> None:
        tracker.known.forget()
        tracker.editing = True
        begin()

    def left(*_: Any) -> None:
        tracker.editing = False

    handles = [
        subject.module.register_forward_pre_hook(entered),
        subject.module.register_forward_hook(left, always_call=True),
    ]
    try:
        with tracker:
            yield tracker
    finally:
        for handle in handles:
            handle.remove()


def turn_mask(operation: Operation, known: Followed) -> Operation:
    return masks.changed(operation, known, masks.turned)


def shift_mask(operation: Operation, known: Followed) -> Operation:
    return masks.changed(operation, known, masks.shifted)


def hide_future(operation: Operation, known: Followed) -> Operation:
    """A causal mask in every attention of a sequence with itself."""
    if operation.name == "fused attention":
        query, key = operation.argument(0, "query"), operation.argument(1, "key")
        if query.shape[-2] != key.shape[-2] or operation.argument(5, "is_causal", False):
            return operation
        seen = torch.ones(query.shape[-2], query.shape[-2], dtype=torch.bool, device=query.device).tril()
        mask = operation.argument(3, "attn_mask")
        if mask is None:
            told = seen
        elif mask.dtype == torch.bool:
            told = mask & seen
        else:
            told = mask.masked_fill(~seen, torch.finfo(mask.dtype).min)
        return operation.with_argument(3, "attn_mask", told)
    trail = known.of(operation.argument(0, "input")) if operation.name == "softmax" else None
    if trail is None or trail.site is None:
        return operation
    scores: Tensor = operation.argument(0, "input")
    if scores.ndim < 2 or scores.shape[-1] != scores.shape[-2]:
        return operation
    ahead = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
    return _with_scores(operation, known, scores.masked_fill(ahead, torch.finfo(scores.dtype).min))


def softmax_over_keys(operation: Operation, known: Followed) -> Operation:
    trail = known.of(operation.argument(0, "input")) if operation.name == "softmax" else None
    if trail is None or trail.site is None:
        return operation
    return operation.with_argument(1, "dim", trail.site.key_axis)


def scale_by_head_width(operation: Operation, known: Followed) -> Operation:
    """Scores come to the softmax as the product over the root of the head's width."""
    if operation.name == "fused attention":
        query, key = operation.argument(0, "query"), operation.argument(1, "key")
        before = 1.0
        for trail in (known.of(query), known.of(key)):
            before *= 1.0 if trail is None or not trail.scale else trail.scale
        return replace(operation, kwargs={**operation.kwargs, "scale": query.shape[-1] ** -0.5 / before})
    trail = known.of(operation.argument(0, "input")) if operation.name == "softmax" else None
    if trail is None or trail.site is None or not trail.scale:
        return operation
    scores = operation.argument(0, "input")
    factor = trail.site.width**-0.5 / trail.scale
    edited = _with_scores(operation, known, (scores * factor).clamp(min=torch.finfo(scores.dtype).min))
    known.put(edited.argument(0, "input"), replace(trail, scale=trail.scale * factor))
    return edited


def _with_scores(operation: Operation, known: Followed, scores: Tensor) -> Operation:
    trail = known.of(operation.argument(0, "input"))
    assert trail is not None
    known.put(scores, trail)
    return operation.with_argument(0, "input", scores)


def no_dropout(operation: Operation, known: Followed) -> Operation:
    if operation.name in {"dropout", "feature_dropout", "alpha_dropout"}:
        return operation.with_argument(2, "train" if operation.function is torch.dropout else "training", False)
    if operation.name == "fused attention" and operation.argument(4, "dropout_p", 0.0):
        return operation.with_argument(4, "dropout_p", 0.0)
    return operation


def renormalise(operation: Operation, known: Followed) -> Operation:
    """Weights that were cut after the softmax sum to one again: as if the mask had been there before it."""
    given = [each for each in operation.args if isinstance(each, Tensor)]
    cut = next(
        (each for each in given if (trail := known.of(each)) and trail.role == "weights" and not trail.pure), None
    )
    if cut is None or operation.name not in {"matmul", "bmm", "einsum"}:
        return operation
    whole = cut / cut.sum(-1, keepdim=True).clamp(min=torch.finfo(cut.dtype).tiny)
    trail = known.of(cut)
    assert trail is not None
    known.put(whole, trail)
    if trail.site is not None:
        trail.site.hidings = [each for each in trail.site.hidings if each.written != "after softmax"]
    return replace(operation, args=tuple(whole if each is cut else each for each in operation.args))


def merge_heads(operation: Operation, known: Followed) -> Operation:
    """What comes out of an attention (… H T d) has its positions put before its heads when these are merged."""
    if operation.name not in {"reshape", "view", "flatten"}:
        return operation
    given = operation.args[0]
    trail = known.of(given)
    if trail is None or trail.role != "context" or trail.origin is None or given.ndim != 4:
        return operation
    after = origins.moved(operation, known.trails, "origin")
    if after is None or after.ndim != 3 or origins.constant(after):
        return operation
    axis = next((i for i in (1, 2) if not origins.constant(trail.origin, i)), None)
    if axis is None:
        return operation
    put = given.movedim(axis, 1)
    known.put(put, replace(trail, origin=trail.origin.movedim(axis, 1)))
    return Operation("reshape", torch.Tensor.reshape, (put, tuple(after.shape)), {})


def split_heads(operation: Operation, known: Followed) -> Operation:
    """Features (B T H·d) are split into (B T H d) and turned, where they were cut along the sequence instead."""
    if operation.name not in {"reshape", "view"}:
        return operation
    given = operation.args[0]
    trail = known.of(given)
    if trail is None or trail.origin is None or given.ndim != 3:
        return operation
    after = origins.moved(operation, known.trails, "origin")
    if after is None or after.ndim not in {3, 4} or not origins.repeated(after.select(-1, 0), -1):
        return operation
    rows, length, width = given.shape
    size = after.shape[-1]
    if after.shape[-2] != length or width % size or width == size:
        return operation
    heads = given.reshape(rows, length, width // size, size).transpose(1, 2)
    known.put(heads, replace(trail, origin=trail.origin.reshape(heads.transpose(1, 2).shape).transpose(1, 2)))
    return Operation("reshape", torch.Tensor.reshape, (heads, tuple(after.shape)), {})


@contextmanager
def batch_first(examination: Examination) -> Iterator[None]:
    """Every `nn.MultiheadAttention` takes rows first."""
    attentions = [
        each for each in examination.asked.module.modules()
        if isinstance(each, nn.MultiheadAttention) and not each.batch_first
    ]  # fmt: skip
    try:
        for each in attentions:
            each.batch_first = True
        yield
    finally:
        for each in attentions:
            each.batch_first = False


def split_and_merge_heads(operation: Operation, known: Followed) -> Operation:
    """Heads that were cut along the sequence are often put together again by the same slip."""
    return merge_heads(split_heads(operation, known), known)


def show_source(operation: Operation, known: Followed) -> Operation:
    """Nothing of a source is hidden by a mask that knows only positions."""
    if operation.name != "fused attention":
        return masks.changed(operation, known, _open_if_not_square)
    query, key = operation.argument(0, "query"), operation.argument(1, "key")
    if query.shape[-2] == key.shape[-2] or not operation.argument(5, "is_causal", False):
        return masks.changed(operation, known, _open_if_not_square)
    return operation.with_argument(5, "is_causal", False)


def _open_if_not_square(hidden: Tensor) -> Tensor:
    return hidden if hidden.shape[-1] == hidden.shape[-2] else torch.zeros_like(hidden)


def fill_instead(operation: Operation, known: Followed) -> Operation:
    return masks.filled_instead(operation, known)


def lowest_fill(operation: Operation, known: Followed) -> Operation:
    return masks.filled_lower(operation, known)
