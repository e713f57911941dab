"""The tensors of one pass under their names, and how far two passes lie apart."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

Recording = dict[str, Tensor]
"""Name → values of the first row, float64 on the CPU, in the order of computing."""

Heard = Callable[[str], None]
"""Told the name of each tensor as it arises, for progress."""

ANSWER = "answer"
"""What the model returns."""

_STREAM = re.compile(r"(?:.+\.)?(?:embed|blocks\.\d+\.output|final_norm|head\.logits)|answer")


def silence(name: str) -> None:
    """Nobody asks."""


def every_name(name: str) -> bool:
    return True


def on_the_stream(name: str) -> bool:
    """Whether a tensor is the residual stream behind a block, or what is made of it at the end: a mended model has
    these in common with the original, whatever the order of heads inside."""
    return _STREAM.fullmatch(name) is not None


@dataclass(frozen=True)
class Row:
    """One tensor of both passes. `rel` is `max_abs` over the largest number of the reference; `floor` is what noise
    alone may make of it."""

    name: str
    max_abs: float
    rel: float
    floor: float

    @property
    def ratio(self) -> float:
        """The difference in units of its noise."""
        return self.max_abs / self.floor if self.floor else (math.inf if self.max_abs else 0.0)


@dataclass(frozen=True)
class Reference:
    """The tensors to reach, and for each the difference that noise makes. `exact` is the relative difference that
    counts as none; a reference that computes `noisily` equals itself no better than its noise."""

    tensors: Recording
    floor: Mapping[str, float]
    exact: float
    noisily: bool = False

    def equal(self, row: Row) -> bool:
        """Whether a difference is none."""
        return row.ratio <= 1 if self.noisily else row.rel <= self.exact

    def widened(self, floor: Mapping[str, float]) -> Reference:
        """The same with more noise."""
        return replace(self, floor={name: value + floor.get(name, 0.0) for name, value in self.floor.items()})

    def row(self, name: str, value: Tensor) -> Row:
        expected = self.tensors[name]
        apart = distance(expected, value)
        largest = magnitude(expected)
        return Row(name, apart, apart / largest if largest else apart, max(self.floor[name], self.exact * largest))

    def rows(self, found: Recording) -> list[Row]:
        """Every tensor that both passes have, in the order in which ours were computed."""
        return [self.row(name, value) for name, value in found.items() if name in self.tensors]


def comparable(first: Tensor | None, second: Tensor) -> bool:
    """Whether two tensors hold as many numbers in rows of one length."""
    return first is not None and first.numel() == second.numel() and first.shape[-1:] == second.shape[-1:]


def distance(first: Tensor, second: Tensor) -> float:
    """The largest difference; ∞ where the shapes differ or one is finite alone. Places alike in being infinite or NaN
    do not count. Leading axes may be merged: one library keeps batch and positions apart, another does not."""
    if not comparable(first, second):
        return math.inf
    second = second.reshape(first.shape)
    if not first.numel():
        return 0.0
    alike = (first == second) | (first.isnan() & second.isnan())
    apart = torch.where(alike, 0.0, (first - second).abs()).nan_to_num(nan=math.inf, posinf=math.inf)
    return float(apart.max())


def magnitude(values: Tensor) -> float:
    """The largest finite magnitude."""
    finite = values[values.isfinite()]
    return float(finite.abs().max()) if finite.numel() else 0.0


def spread(base: Recording, others: Iterable[Recording]) -> dict[str, float]:
    """The largest difference of the others from the base, by name; 0 for what none of them has. One that is infinite is
    no measure of noise: there a variation overflows, and everything would pass."""
    floor = dict.fromkeys(base, 0.0)
    for other in others:
        for name, value in other.items():
            if name in base and math.isfinite(apart := distance(base[name], value)):
                floor[name] = max(floor[name], apart)
    return floor


def keeper(
    first: Callable[[Tensor], Tensor], wanted: Callable[[str], bool] = every_name, heard: Heard = silence
) -> tuple[Recording, Callable[[str, Tensor], None]]:
    """A recording and the listener that fills it; `first` cuts a batch to its first row, `heard` is told each name."""
    seen: Recording = {}

    def listen(name: str, value: Tensor) -> None:
        if wanted(name) and name not in seen:
            # A copy: what is tapped may be written over by the next step.
            seen[name] = first(value).detach().to("cpu", torch.float64, copy=True)
            heard(name)

    return seen, listen
