"""Who may look at whom, kept as a description until a kernel needs the table.

Everything is compared by position, so padding on either side, windows, prefixes and caches combine without cases: a key
is visible when it is real and its position is where the query may look.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import assert_never

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from clearformer.spec import Causal, Full, Visibility

_ALL = slice(None)


@dataclass(frozen=True)
class Mask:
    """A visibility applied to given positions.

    `key_real` None says that every key is a token. `in_order` says that positions are slots: query t stands at slot
    S − T + t of every row, so that kernels may use their own causal form. `documents` numbers the document of each
    position, queries and keys being the same ones: a query sees its own document's keys only.
    """

    visibility: Visibility
    query_positions: Int[Tensor, "#B T"]
    key_positions: Int[Tensor, "#B S"]
    key_real: Bool[Tensor, "#B S"] | None = None
    prefix: Int[Tensor, " B"] | None = None
    in_order: bool = False
    documents: Int[Tensor, "B T"] | None = None
    _tables: dict[str, Tensor] = field(default_factory=dict, repr=False, compare=False)

    @property
    def every_query_sees(self) -> bool:
        """True when the shapes alone show that no query is without a key: each finds at least its own position."""
        return self.key_real is None and (self.in_order or self.documents is not None)

    @property
    def hides_nothing(self) -> bool:
        """True when the shapes alone show that every key is visible."""
        if self.key_real is not None or self.documents is not None:
            return False
        match self.visibility:
            case Full(radius=radius):
                return radius is None
            case Causal(window=window):
                reach = window is None or self.key_positions.shape[1] <= window
                return self.in_order and self.query_positions.shape[1] == 1 and reach
            case _:
                assert_never(self.visibility)

    @property
    def is_plain_causal(self) -> bool:
        """True when the table is the lower triangle of a square."""
        match self.visibility:
            case Causal(window=window, prefix=prefix):
                queries, keys = self.query_positions.shape[1], self.key_positions.shape[1]
                plain = self.key_real is None and self.documents is None and not (prefix and self.prefix is not None)
                return plain and self.in_order and queries == keys and (window is None or keys <= window)
            case _:
                return False

    def sees_any(self) -> Bool[Tensor, "#B 1 T 1"] | None:
        """Which queries see some key; None where all do by shape."""
        if self.every_query_sees:
            return None
        if "sees any" not in self._tables:
            self._tables["sees any"] = self.visible().any(-1, keepdim=True)
        return self._tables["sees any"]

    def opened(self) -> Bool[Tensor, "#B 1 T S"]:
        """`visible`, but a query that would see nothing sees all: its row is opened here, its output closed later."""
        if "opened" not in self._tables:
            seen_by = self.sees_any()
            self._tables["opened"] = self.visible() if seen_by is None else self.visible() | ~seen_by
        return self._tables["opened"]

    def offset(self, dtype: torch.dtype) -> Float[Tensor, "#B 1 T S"]:
        """`opened` as numbers to add to scores: 0, and −∞ where hidden. Made once a pass, for all layers."""
        name = f"offset {dtype}"
        if name not in self._tables:
            opened = self.opened()
            nothing = torch.zeros_like(opened, dtype=dtype)
            self._tables[name] = nothing.masked_fill(~opened, -math.inf)
        return self._tables[name]

    def visible(self, rows: slice = _ALL, columns: slice = _ALL) -> Bool[Tensor, "#B 1 rows columns"]:
        """The table, or a part of it: True where a query may look."""
        query = self.query_positions[:, None, rows, None]
        key = self.key_positions[:, None, None, columns]
        match self.visibility:
            case Full(radius=radius):
                distance = (query - key).abs()
                seen = distance >= 0 if radius is None else distance <= radius
            case Causal(window=window, prefix=prefix):
                seen = key <= query
                if window is not None:
                    seen = seen & (query - key < window)
                if prefix and self.prefix is not None:
                    end = self.prefix[:, None, None, None]
                    seen = seen | ((query < end) & (key < end))
            case _:
                assert_never(self.visibility)
        if self.documents is not None:
            seen = seen & (self.documents[:, None, rows, None] == self.documents[:, None, None, columns])
        return seen if self.key_real is None else seen & self.key_real[:, None, None, columns]

    @property
    def is_alike_in_every_row(self) -> bool:
        """True when the shapes alone show that one row's table is every row's."""
        each = (self.query_positions, self.key_positions, self.key_real, self.prefix, self.documents)
        return all(part is None or len(part) == 1 for part in each)

    def of_rows(self, batch: slice) -> Mask:
        """The mask of some rows of the batch."""

        def cut(part: Tensor | None) -> Tensor | None:
            return part if part is None or len(part) == 1 else part[batch]

        query, key = cut(self.query_positions), cut(self.key_positions)
        assert query is not None
        assert key is not None
        cuts = (cut(self.key_real), cut(self.prefix), self.in_order, cut(self.documents))
        return Mask(self.visibility, query, key, *cuts)
