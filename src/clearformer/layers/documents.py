"""Several documents in one row: which positions belong together, and where each stands in its own.

Read so, a packed row gives what each of its documents gives alone.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Int
from torch import Tensor


def runs(numbers: Int[Tensor, "B T"]) -> Int[Tensor, "B T"]:
    """0, 1, 2 … along a row: a document is an unbroken run of one number, and the next may bear any other."""
    begins = torch.zeros_like(numbers, dtype=torch.long)
    begins[:, 1:] = numbers[:, 1:] != numbers[:, :-1]
    return begins.cumsum(1)


def places(runs: Int[Tensor, "B T"], real: Bool[Tensor, "B T"] | None) -> Int[Tensor, "B T"]:
    """The number of tokens before each one in its document; a pad's is clamped to 0 and never used."""
    tokens = torch.ones_like(runs) if real is None else real.long()
    ends = tokens.cumsum(1)
    before = torch.zeros_like(runs)
    before[:, 1:] = torch.where(runs[:, 1:] != runs[:, :-1], ends[:, :-1], 0)
    return (ends - 1 - before.cummax(1).values).clamp(min=0)


def lengths(
    runs: Int[Tensor, "B T"], positions: Int[Tensor, "B T"], real: Bool[Tensor, "B T"] | None
) -> Int[Tensor, "B T"]:
    """At each position the length of its document: its tokens, or one more than its last position where all are."""
    empty = torch.zeros_like(runs)
    if real is None:
        return empty.scatter_reduce(1, runs, positions + 1, "amax").gather(1, runs)
    return empty.scatter_add(1, runs, real.long()).gather(1, runs)
