"""Who may look at whom, kept as a description until a kernel needs the table.

Everything is compared by position, so padding on either side, windows, prefixes and caches combine without cases: a key
is visible when it is real and its position is where the query may look.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from jaxtyping import Bool, Int
from torch import Tensor

from clearformer.spec import Causal, Full, Visibility


@dataclass(frozen=True)
class Mask:
    """A visibility applied to given positions.

    `key_real` None says that every key is a token. `in_order` says that positions are slots: query t stands at slot
    S − T + t of every row, so that kernels may use their own causal form.
    """

    visibility: Visibility
    query_positions: Int[Tensor, "#B T"]
    key_positions: Int[Tensor, "#B S"]
    key_real: Bool[Tensor, "#B S"] | None = None
    prefix: Int[Tensor, " B"] | None = None
    in_order: bool = False

    @property
    def hides_nothing(self) -> bool:
        """True when the shapes alone show that every key is visible."""
        if self.key_real is not None:
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
                plain = self.key_real is None and not (prefix and self.prefix is not None)
                return plain and self.in_order and queries == keys and (window is None or keys <= window)
            case _:
                return False

    def visible(self) -> Bool[Tensor, "#B 1 T S"]:
        """The table: True where a query may look."""
        query = self.query_positions[:, None, :, None]
        key = self.key_positions[:, None, None, :]
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
        return seen if self.key_real is None else seen & self.key_real[:, None, None, :]
