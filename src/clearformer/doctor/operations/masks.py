"""The mask of an operation, whichever way it is written: read as a table of what is hidden, and put back changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from clearformer.doctor.operations.attending import HIDES, number, zeros_and_ones
from clearformer.doctor.operations.following import Followed
from clearformer.doctor.operations.operation import ADDING, SCALING, Operation

Change = Callable[[Tensor], Tensor]
"""Hidden (… T S) → hidden (… T S)."""


def changed(operation: Operation, known: Followed, change: Change) -> Operation:
    """The operation with its mask changed; the same operation where it has none that tells query from query."""
    if operation.name == "fused attention":
        return _with_table(operation, 3, "attn_mask", operation.argument(3, "attn_mask"), change)
    if operation.name == "baddbmm":
        return _with_table(operation, 0, "input", operation.argument(0, "input"), change)
    trail = next((known.of(each) for each in operation.args if _is_scores(known, each)), None)
    if trail is None:
        return operation
    if operation.name == "masked_fill":
        return _with_table(operation, 1, "mask", operation.argument(1, "mask"), change)
    if operation.name == "where":
        # Where the scores come second the condition says what stays.
        stays = _is_scores(known, operation.argument(1, "input"))
        turned: Change = (lambda kept: ~change(~kept)) if stays else change
        return _with_table(operation, 0, "condition", operation.argument(0, "condition"), turned)
    if operation.name == "setitem":
        return _with_table(operation, 1, "indices", operation.args[1], change)
    if operation.name in ADDING:
        for place in (0, 1):
            if not _is_scores(known, operation.argument(place, "")):
                return _with_table(operation, place, "other", operation.argument(place, "other"), change)
    return operation


def _is_scores(known: Followed, value: object) -> bool:
    trail = known.of(value)
    return trail is not None and trail.role == "scores"


def _with_table(operation: Operation, place: int, name: str, mask: object, change: Change) -> Operation:
    if not isinstance(mask, Tensor) or mask.ndim < 2 or min(mask.shape[-2:]) < 2:
        return operation
    if mask.dtype == torch.bool:
        # A fused attention's boolean mask says what is kept.
        table = ~change(~mask) if operation.name == "fused attention" else change(mask)
        return operation.with_argument(place, name, table)
    if not mask.is_floating_point() or float(mask.min()) > HIDES:
        return operation
    hidden = change(mask <= HIDES)
    lowest = torch.finfo(mask.dtype).min
    table = torch.where(hidden, torch.full_like(mask, lowest), mask.masked_fill(mask <= HIDES, 0.0))
    return operation.with_argument(place, name, table)


def turned(hidden: Tensor) -> Tensor:
    """What was hidden is seen and the other way round. A row that would see nothing keeps its own token."""
    result = ~hidden
    if hidden.shape[-1] == hidden.shape[-2]:
        own = torch.eye(hidden.shape[-1], dtype=torch.bool, device=hidden.device)
        result = result & ~(own & result.all(-1, keepdim=True))
    return result


def shifted(hidden: Tensor) -> Tensor:
    """One key less where the next token is seen, one more where the query's own is not."""
    size = hidden.shape[-1]
    if size != hidden.shape[-2]:
        return hidden
    after = torch.ones(size, size, dtype=torch.bool, device=hidden.device)
    if bool(hidden.diagonal(0, -2, -1)[..., 1:].all()):
        fewer = torch.cat([torch.zeros_like(hidden[..., :1]), hidden[..., :-1]], -1)
        return fewer & (hidden | after.triu(0))
    if not bool(hidden.diagonal(1, -2, -1).any()):
        more = torch.cat([hidden[..., 1:], torch.ones_like(hidden[..., :1])], -1)
        return hidden | (more & after.triu(1))
    return hidden


def filled_lower(operation: Operation, known: Followed) -> Operation:
    """A fill that scores could fall below becomes the lowest number that there is."""
    if not any(_is_scores(known, each) for each in operation.args):
        return changed(operation, known, lambda hidden: hidden) if operation.name in _TABLES else operation
    scores = next(each for each in operation.args if _is_scores(known, each))
    lowest = torch.finfo(scores.dtype).min
    if operation.name == "masked_fill":
        return operation.with_argument(2, "value", lowest)
    if operation.name == "where":
        place = 2 if _is_scores(known, operation.argument(1, "input")) else 1
        fill = number(operation.argument(place, "other" if place == 2 else "input"))
        known_fill = torch.full((), lowest, dtype=scores.dtype, device=scores.device)
        return operation if fill is None else operation.with_argument(place, "other", known_fill)
    if operation.name == "setitem":
        return replace(operation, args=(*operation.args[:2], lowest))
    return changed(operation, known, lambda hidden: hidden)


_TABLES = frozenset({"fused attention", "baddbmm"})


def filled_instead(operation: Operation, known: Followed) -> Operation:
    """A table of noughts and ones that is added to scores, or multiplied into them, hides what it has noughts for."""
    if operation.name in {"fused attention", "baddbmm"}:
        place, name = (3, "attn_mask") if operation.name == "fused attention" else (0, "input")
        mask = operation.argument(place, name)
        if isinstance(mask, Tensor) and mask.is_floating_point() and zeros_and_ones(mask):
            return operation.with_argument(place, name, _as_fill(mask))
        return operation
    if operation.name not in ADDING | SCALING:
        return operation
    pair = operation.args[:2]
    for place, mask in enumerate(pair):
        other = pair[1 - place] if len(pair) == 2 else None
        if isinstance(mask, Tensor) and isinstance(other, Tensor) and _is_scores(known, other) and zeros_and_ones(mask):
            return Operation("add", torch.Tensor.add, (other, _as_fill(mask).to(other.dtype)), {})
    return operation


def _as_fill(mask: Tensor) -> Tensor:
    lowest = torch.finfo(mask.dtype if mask.is_floating_point() else torch.float32).min / 2
    return torch.zeros(mask.shape, dtype=mask.dtype if mask.is_floating_point() else torch.float32).masked_fill(
        mask <= 0, lowest
    )
