"""What positions mean, as tables for the compiled kernels: computed by the same functions as the layers'."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from clearformer import spec as specs
from clearformer.layers.positions.alibi import slopes
from clearformer.layers.positions.relative import bucket
from clearformer.layers.positions.rope_scaling import frequencies
from clearformer.layers.positions.sinusoidal import sinusoids
from clearformer.native.engine import Tables, rounded_capacity

_BEYOND = 16
"""Kernels read sixteen positions at a time, past the last."""


class Positions:
    """The distinct tables of a stack, numbered as its layers name them; made for a length when a text begins."""

    def __init__(self, stack: specs.Stack) -> None:
        self._stack = stack
        self._rotary: list[tuple[specs.Rotary, int]] = []
        self._bias: list[tuple[specs.ALiBi | specs.RelativeBias, int, np.ndarray | None]] = []
        self._shared: int | None = None
        self._made: dict[tuple[int, int], Tables] = {}
        self.learned: np.ndarray | None = None

    def rotary(self, position: specs.Rotary, head_width: int) -> int:
        """The number of a rotation's table."""
        choice = position, head_width
        if choice not in self._rotary:
            self._rotary.append(choice)
        return self._rotary.index(choice)

    def bias(
        self,
        position: specs.ALiBi | specs.RelativeBias,
        heads: int,
        table: Callable[[], np.ndarray],
    ) -> int:
        """The number of a table of biases; a learnt one is read by `table`, a shared one once."""
        if isinstance(position, specs.RelativeBias):
            if position.shared and self._shared is not None:
                return self._shared
            self._bias.append((position, heads, table()))
            if position.shared:
                self._shared = len(self._bias) - 1
            return len(self._bias) - 1
        choice = (position, heads, None)
        for number, (known, width, learnt) in enumerate(self._bias):
            if learnt is None and (known, width) == choice[:2]:
                return number
        self._bias.append(choice)
        return len(self._bias) - 1

    @property
    def room(self) -> int | None:
        """Positions that there are at most: a learnt table ends."""
        position = self._stack.input.position
        return position.length if isinstance(position, specs.Learned) else None

    def tables(self, capacity: int, length_bound: int) -> Tables:
        """For a text of up to `capacity` tokens, `length_bound` of them declared; like texts share them."""
        length = rounded_capacity(capacity)
        bound = length_bound if self._by_length() else 0
        if (length, bound) not in self._made:
            # One conversation grows through few sizes; older ones live as long as a sequence uses them.
            self._made = {(length, bound): self._make(length, length_bound)}
        return self._made[length, bound]

    def _by_length(self) -> bool:
        scalings = (rotary.scaling for rotary, _ in self._rotary)
        return any(isinstance(scaling, specs.DynamicNTK | specs.LongRoPE) for scaling in scalings)

    def _make(self, length: int, bound: int) -> Tables:
        rotary = tuple(_angles(position, width, length, bound) for position, width in self._rotary)
        bias = tuple(_distances(position, heads, learnt, length) for position, heads, learnt in self._bias)
        return Tables(self._inputs(length), rotary, bias)

    def _inputs(self, length: int) -> np.ndarray | None:
        match self._stack.input.position:
            case None:
                return None
            case specs.Learned(offset=offset):
                assert self.learned is not None
                rows = self.learned[offset : offset + length]
                return np.ascontiguousarray(rows)
            case specs.Sinusoidal(base=base, layout=layout):
                places = torch.arange(length)[None]
                waves = sinusoids(places, self._stack.width, base=base, interleaved=layout == "interleaved")
                return np.ascontiguousarray(waves[0].float().numpy())


def _angles(position: specs.Rotary, head_width: int, length: int, bound: int) -> np.ndarray:
    """length × R: a position's cosines, then its sines. In float32, as the layers'."""
    width = position.rotated(head_width)
    per_pair, factor = frequencies(position.base, width, position.scaling, torch.tensor([bound]))
    angles = torch.arange(length)[:, None].float() * per_pair.float()
    return np.ascontiguousarray(torch.cat((angles.cos() * factor, angles.sin() * factor), 1).numpy())


def _distances(
    position: specs.ALiBi | specs.RelativeBias, heads: int, learnt: np.ndarray | None, length: int
) -> np.ndarray:
    """heads × (length + 16): the bias of distance d at length − 1 − d; what lies past distance 0 is never seen."""
    made = np.zeros((heads, length + _BEYOND), np.float32)
    away = torch.arange(length - 1, -1, -1)
    if isinstance(position, specs.ALiBi):
        slope = torch.tensor(slopes(heads, position.max_bias))
        made[:, :length] = (-slope[:, None] * away.float()).numpy()
    else:
        assert learnt is not None
        made[:, :length] = learnt[bucket(-away, position).numpy()].T
    return made
