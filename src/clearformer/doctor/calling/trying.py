"""One way of calling, tried: whether the module answers, where in its output the answer lies, and what it raised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from clearformer.doctor.calling.call import Answers, Call
from clearformer.doctor.calling.subject import Subject, evaluating

_WRONG_TYPE = (
    "expected scalar type", "too many indices", "indices must be integers", "Long", "indices element", "same dtype",
    "IntTensor",
)  # fmt: skip
"""What PyTorch says to ids where it wants vectors, and the other way round."""

ROWS, LENGTH = 3, 8
"""Of a trial: two numbers that no module takes for each other."""

ROUNDING = 1e-5
"""Of the largest answer; float32 kernels stay a factor of ten below."""

_ANSWERS = ("logits", "prediction_logits", "last_hidden_state", "prediction_outputs", "output", "outputs", "hidden")


@dataclass
class Trials:
    """What was tried, and what came of it, for the message where nothing succeeds."""

    failures: list[tuple[Subject, Exception]] = field(default_factory=list)

    def answered(self, subject: Subject) -> Subject | None:
        """The subject with the place of its answer, or None where it raised or gave nothing tensor-like."""
        inputs = subject.inputs(ROWS, subject.length(LENGTH), _generator())
        try:
            with seeded(), torch.no_grad():
                output = subject.output(inputs)
        except Exception as error:
            self.failures.append((subject, error))
            return None
        found = _place(output, ROWS, inputs.shape[1], subject.vocab_size, subject.kind)
        if found is None:
            self.failures.append((subject, NoAnswer(told(output))))
            return None
        where, answers = found
        return replace(subject, call=replace(subject.call, output=where, answers=answers))

    @property
    def likeliest(self) -> tuple[Subject, Exception]:
        """The failure that tells most: one from inside the module rather than one about its arguments."""
        return min(self.failures, key=lambda each: _remoteness(each[1]))


class NoAnswer(Exception):  # noqa: N818 – a result of a trial
    """The module returned, but nothing that has a place for each input."""


@contextmanager
def seeded() -> Iterator[None]:
    """The same draws in every trial: dropout that is left on then drops the same, and trials can be compared."""
    kept = torch.get_rng_state()
    torch.manual_seed(0)
    try:
        yield
    finally:
        torch.set_rng_state(kept)


def asked(subject: Subject, inputs: Tensor, **more: Any) -> Tensor | None:
    """The answer, or None where the module raises."""
    try:
        with seeded(), evaluating(subject.module):
            return subject.answer(inputs, **more)
    except Exception:
        return None


def apart(one: Tensor, other: Tensor) -> Tensor:
    """Per row and position (B T): whether two answers differ by more than rounding does; NaN differs from nothing."""
    one, other = one.detach().double(), other.detach().double()
    scale = max(float(one.nan_to_num(0.0).abs().max()), 1e-9)
    return ((one - other).abs().nan_to_num(0.0) > ROUNDING * scale).flatten(2).any(-1)


def told(output: object) -> str:
    """An output in words: the types and shapes of what lies in it."""
    if isinstance(output, Tensor):
        return f"{type(output).__name__} {tuple(output.shape)}"
    if isinstance(output, Mapping):
        return "{" + ", ".join(f"{key}: {told(value)}" for key, value in list(output.items())[:6]) + "}"
    if isinstance(output, list | tuple):
        return "(" + ", ".join(told(value) for value in output[:6]) + ")"
    return type(output).__name__


def items(output: object) -> Iterator[tuple[str | int | None, object]]:
    """What lies in an output, each with its place."""
    if isinstance(output, Tensor):
        yield None, output
    elif isinstance(output, Mapping):
        yield from ((str(key), value) for key, value in output.items())
    elif isinstance(output, list | tuple):
        yield from enumerate(output)
    elif hasattr(output, "__dict__"):
        yield from vars(output).items()


def _place(
    output: object, rows: int, length: int, vocab_size: int, kind: str
) -> tuple[str | int | None, Answers] | None:  # fmt: skip
    """Where the answer lies and what it has places for; logits before hidden states, positions before whole rows."""
    tensors = [(where, each) for where, each in items(output) if isinstance(each, Tensor) and each.is_floating_point()]
    best: tuple[int, str | int | None, Answers] | None = None
    for place, (where, each) in enumerate(tensors):
        answers = _form(each, rows, length, vocab_size, kind)
        if answers is None:
            continue
        rank = _RANKS.index(answers) * 100 + (each.shape[-1] != vocab_size) * 10 + place
        if isinstance(where, str) and where in _ANSWERS:
            rank -= 50 - _ANSWERS.index(where)
        if best is None or rank < best[0]:
            best = (rank, where, answers)
    return None if best is None else best[1:]


_RANKS: tuple[Answers, ...] = ("positions", "channels", "flat", "last", "whole")


def _form(found: Tensor, rows: int, length: int, vocab_size: int, kind: str) -> Answers | None:
    shape = tuple(found.shape)
    if len(shape) >= 3 and set(shape[:2]) == {rows, length} and kind != "forecaster":
        return "positions"
    if len(shape) == 2 and shape[0] == rows * length and kind != "forecaster":
        return "flat"
    if shape == (rows, vocab_size, length) and kind != "forecaster":
        return "channels"
    if shape and shape[0] == rows:
        language = kind in ("decoder", "encoder-decoder") and shape[-1] == vocab_size
        return "last" if language and (len(shape) == 2 or shape[1] == 1) else "whole"
    return None


def inside(error: Exception) -> bool:
    """Whether the module itself failed, rather than the call not fitting its signature or its type of input."""
    said = str(error)
    if isinstance(error, TypeError):
        return "argument" not in said
    return not any(word in said for word in _WRONG_TYPE)


def _remoteness(error: Exception) -> int:
    return 0 if isinstance(error, NoAnswer) else 1 if inside(error) else 2


def _generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def with_call(subject: Subject, **changes: Any) -> Subject:
    """The subject under a changed call."""
    call: Call = replace(subject.call, **changes)
    return replace(subject, call=call)
