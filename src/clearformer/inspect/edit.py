"""Activations replaced by name while a model reads: what would it say without this head, or with that state?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from clearformer.errors import UsageError
from clearformer.inspect.capture import Captured, run
from clearformer.inspect.points import chosen
from clearformer.inspect.subject import Input, evaluating, subject_of
from clearformer.inspect.trace import reading_of
from clearformer.load import Loaded
from clearformer.messages import capture as messages
from clearformer.model import Model
from clearformer.taps import Listening, matches

Edit = Callable[[Tensor], Tensor]
"""From an activation to what the model goes on with, of the same shape."""

# What an attention kernel computes inside and does not hand out.
INSIDE_THE_KERNEL = ("scores", "masked_scores", "weights")


@dataclass(frozen=True)
class Edited:
    """What the model answered. `captured` is what was asked to be kept, after the edits.

    `edited` are the names that were edited; `plain` those of them for which attention was computed step by step and
    not by the fused kernel, so that the answer's last digits may differ from an unedited one's for that alone.
    """

    output: Tensor
    captured: Captured
    edited: tuple[str, ...]
    plain: tuple[str, ...]


def edit(
    looked_at: Loaded | Model,
    given: Input,
    edits: Mapping[str, Edit],
    *,
    capture: Sequence[str] = (),
    target: Sequence[int] | None = None,
) -> Edited:
    """Read `given` once, each activation that matches a pattern of `edits` replaced by what its edit makes of it.

    Edits may be any functions, and `zero_heads`, `zero`, `scaled` and `patched` are ready. `capture` names what to
    keep. Raises UsageError for a pattern that matches nothing and an edit that changes a shape, else as `subject_of`.
    """
    subject = subject_of(looked_at, given, target)
    reading = reading_of(subject)
    kept = chosen(subject.model.spec, reading, tuple(capture)) if capture else {}
    chosen(subject.model.spec, reading, tuple(edits))
    seen: dict[str, Tensor] = {}
    touched: list[str] = []

    def listen(name: str, value: Tensor) -> Tensor | None:
        given_value = value
        for pattern, change in edits.items():
            if matches(name, pattern):
                value = _checked(name, value, change(value.clone()))
        if value is not given_value:
            touched.append(name)
        if name in kept:
            seen[name] = value.clone()
        return None if value is given_value else value

    with evaluating(subject.model), torch.no_grad():
        output = run(subject, Listening(listen, patterns=(*edits, *kept)))
    plain = tuple(name for name in touched if name.rpartition(".")[2] in INSIDE_THE_KERNEL)
    return Edited(output, Captured(subject.tokens, seen, output), tuple(touched), plain)


def zero(value: Tensor) -> Tensor:
    """Nothing there: on a sublayer's output, the sublayer is removed."""
    return torch.zeros_like(value)


def zero_heads(*heads: int) -> Edit:
    """These heads give nothing; on `attention.heads` they are removed."""

    def change(value: Tensor) -> Tensor:
        if value.dim() != 4:
            raise UsageError(messages.NO_HEADS_THERE, shape=tuple(value.shape))
        count = value.shape[1]
        for head in heads:
            if not 0 <= head < count:
                raise UsageError(messages.NO_SUCH_HEAD, found=head, count=count, last=count - 1)
        value[:, list(heads)] = 0
        return value

    return change


def scaled(factor: float) -> Edit:
    """The activation times `factor`."""
    return lambda value: value * factor


def patched(other: Tensor, positions: Sequence[int] | None = None) -> Edit:
    """The activation of another run put in place of this one's, at these positions only or at all of them.

    Positions are those of the dimension before the last: tokens, whether or not there are heads.
    """

    def change(value: Tensor) -> Tensor:
        if positions is None:
            return other.to(value)
        count = min(value.shape[-2], other.shape[-2])
        for position in positions:
            if not 0 <= position < count:
                raise UsageError(messages.NO_SUCH_POSITION, found=position, count=count, last=count - 1)
        value[..., list(positions), :] = other[..., list(positions), :].to(value)
        return value

    return change


def _checked(name: str, value: Tensor, changed: Tensor) -> Tensor:
    if changed.shape != value.shape:
        raise UsageError(messages.OTHER_SHAPE, name=name, expected=tuple(value.shape), found=tuple(changed.shape))
    return changed.to(value)
