"""A family's weight table: rows that say which foreign tensors are which of ours, each readable in both directions.

    TABLE = (
        Same("wte.weight", "embed.weight"),
        Split("h.{i}.attn.c_attn.weight", ("blocks.{i}.q.weight", …), sizes=(D, D, D), axis=1, transposed=True),
        Ignored("h.*.attn.bias", "the causal mask, kept as a buffer"),
    )

`{i}` stands for a layer's number (any name in braces for a number) and is the same on both sides of a row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # A table of names is made without torch: reading a config takes milliseconds.
    from torch import Tensor

    Tensors = tuple[Tensor, ...]

Numbers = Mapping[str, str]


@dataclass(frozen=True)
class Row:
    """A bijection between foreign tensors and ours. `to_ours` and `to_theirs` are inverses, on the meta device too."""

    theirs: str
    ours: str | tuple[str, ...]

    def to_ours(self, theirs: Tensors) -> Tensors:
        """Foreign tensors, in the order of `their_names`, to ours in the order of `our_names`."""
        return theirs

    def to_theirs(self, ours: Tensors) -> Tensors:
        return ours

    def their_names(self, numbers: Numbers) -> tuple[str, ...]:
        return (self.theirs.format_map(numbers),)

    def our_names(self, numbers: Numbers) -> tuple[str, ...]:
        return tuple(template.format_map(numbers) for template in self._ours)

    def match(self, our_name: str) -> Numbers | None:
        """The numbers with which this row gives `our_name`, or None if it gives it for no number."""
        for pattern in self._patterns:
            if found := pattern.fullmatch(our_name):
                return found.groupdict()
        return None

    @property
    def _ours(self) -> tuple[str, ...]:
        return (self.ours,) if isinstance(self.ours, str) else self.ours

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], ...]:
        return tuple(_pattern(template) for template in self._ours)


def _pattern(template: str) -> re.Pattern[str]:
    """`a.{i}.b` as an expression in which `{i}` is a decimal number without leading zeros."""
    parts = re.split(r"\{(\w+)\}", template)
    return re.compile("".join(f"(?P<{p}>0|[1-9][0-9]*)" if n % 2 else re.escape(p) for n, p in enumerate(parts)))


def _unflatten(tensor: Tensor, axis: int, sizes: tuple[int, ...]) -> Tensor:
    return tensor.reshape(*tensor.shape[:axis], *sizes, *tensor.shape[axis + 1 :])


@dataclass(frozen=True)
class Same(Row):
    """The same numbers under another name."""


@dataclass(frozen=True)
class Fallback(Same):
    """As `Same`, for files in which the rows before it find nothing: a shared table saved under one of its names."""


@dataclass(frozen=True)
class Zeros(Fallback):
    """Zeros where a file leaves out what was never trained; `theirs` names it for the reader."""

    shape: tuple[int, ...]

    def to_ours(self, theirs: Tensors) -> Tensors:
        import torch

        return (torch.zeros(self.shape),)

    def to_theirs(self, ours: Tensors) -> Tensors:
        return ()

    def their_names(self, numbers: Numbers) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True)
class OneRow(Row):
    """A vector stored as a matrix of one row (the bias of BART's logits)."""

    def to_ours(self, theirs: Tensors) -> Tensors:
        return (theirs[0].flatten(),)

    def to_theirs(self, ours: Tensors) -> Tensors:
        return (ours[0][None],)


@dataclass(frozen=True)
class Transposed(Row):
    """A matrix stored inputs first, as GPT-2's Conv1D does; ours are outputs first."""

    def to_ours(self, theirs: Tensors) -> Tensors:
        return (theirs[0].t(),)

    def to_theirs(self, ours: Tensors) -> Tensors:
        return (ours[0].t(),)


@dataclass(frozen=True)
class Split(Row):
    """One foreign tensor that fuses several of ours along `axis`.

    `sizes` are the parts' sizes within one group. One group: query, key, value one after the other (GPT-2). `groups`
    heads: query, key and value of the first head, then of the second (GPT-NeoX, BLOOM). `transposed`: stored inputs
    first. `axis` is the foreign tensor's.
    """

    sizes: tuple[int, ...]
    axis: int = 0
    groups: int = 1
    transposed: bool = False

    def to_ours(self, theirs: Tensors) -> Tensors:
        (fused,) = theirs
        grouped = _unflatten(fused, self.axis, (self.groups, sum(self.sizes)))
        parts = grouped.split(list(self.sizes), dim=self.axis + 1)
        return tuple(self._turn(part.flatten(self.axis, self.axis + 1)) for part in parts)

    def to_theirs(self, ours: Tensors) -> Tensors:
        import torch

        parts = [
            _unflatten(self._turn(part), self.axis, (self.groups, size))
            for part, size in zip(ours, self.sizes, strict=True)
        ]
        return (torch.cat(parts, dim=self.axis + 1).flatten(self.axis, self.axis + 1),)

    def _turn(self, part: Tensor) -> Tensor:
        return part.t() if self.transposed else part


@dataclass(frozen=True)
class Stacked(Row):
    """One foreign tensor of `count` experts, in each the matrices of `ours` one above the other, outputs first.

    So transformers 5 holds a mixture in memory. `{e}` in `ours` is the expert's number.
    """

    count: int

    def to_ours(self, theirs: Tensors) -> Tensors:
        matrices = _unflatten(theirs[0], 1, (len(self._ours), -1))
        return tuple(matrix for expert in matrices.unbind() for matrix in expert.unbind())

    def to_theirs(self, ours: Tensors) -> Tensors:
        import torch

        return (_unflatten(torch.stack(ours), 0, (self.count, len(self._ours))).flatten(1, 2),)

    def our_names(self, numbers: Numbers) -> tuple[str, ...]:
        experts = ({**numbers, "e": str(expert)} for expert in range(self.count))
        return tuple(template.format_map(each) for each in experts for template in self._ours)

    def match(self, our_name: str) -> Numbers | None:
        numbers = super().match(our_name)
        return numbers and {name: number for name, number in numbers.items() if name != "e"}


@dataclass(frozen=True)
class Permuted(Row):
    """Rows of a query or key projection whose rotary pairs lie side by side (GGUF's Llama); ours lie in two halves.

    Within each of `heads` heads, foreign row 2j is our row j and foreign row 2j+1 our row j + K/2
    (RoFormer, arXiv 2104.09864, section 3.4, against its half-split variant).
    """

    heads: int

    def to_ours(self, theirs: Tensors) -> Tensors:
        return (self._swap(theirs[0], (self.heads, -1, 2)),)

    def to_theirs(self, ours: Tensors) -> Tensors:
        return (self._swap(ours[0], (self.heads, 2, -1)),)

    def _swap(self, rows: Tensor, layout: tuple[int, int, int]) -> Tensor:
        return _unflatten(rows, 0, layout).transpose(1, 2).flatten(0, 2)


@dataclass(frozen=True)
class Raised(Row):
    """A norm's weights into which the 1 that the norm adds is already put (Gemma in GGUF), in float32 at least."""

    def to_ours(self, theirs: Tensors) -> Tensors:
        return (self._wide(theirs[0]) - 1.0,)

    def to_theirs(self, ours: Tensors) -> Tensors:
        return (self._wide(ours[0]) + 1.0,)

    def _wide(self, weights: Tensor) -> Tensor:
        return weights if weights.dtype.itemsize >= 4 else weights.float()


@dataclass(frozen=True)
class Reshaped(Row):
    """The same numbers in the same order, counted along other axes: a patch convolution's kernel as a matrix, a table
    kept with a batch axis."""

    their_shape: tuple[int, ...]
    our_shape: tuple[int, ...]

    def to_ours(self, theirs: Tensors) -> Tensors:
        return (theirs[0].reshape(self.our_shape),)

    def to_theirs(self, ours: Tensors) -> Tensors:
        return (ours[0].reshape(self.their_shape),)


@dataclass(frozen=True)
class Unchanged(Row):
    """Every tensor under the name that it has here."""

    theirs: str = "{name}"
    ours: str = "{name}"

    def match(self, our_name: str) -> Numbers:
        return {"name": our_name}


@dataclass(frozen=True)
class Tied:
    """A foreign tensor that may be present and must then equal `to`, another foreign tensor; never written.

    Of several rows for one tensor that holds whose `to` is in the file.
    """

    theirs: str
    to: str


@dataclass(frozen=True)
class Ignored:
    """Foreign tensors that carry no weights; `*` in `pattern` stands for anything, `why` is for the reader."""

    pattern: str
    why: str


Table = tuple[Row | Tied | Ignored, ...]
