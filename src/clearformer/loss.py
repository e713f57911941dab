"""Cross-entropy, and the one place where a sequence is shifted against itself.

Every loss is a sum with the number of targets that it is a sum over: sums of micro-batches add up to the whole batch's,
however it was cut, and a target that is ignored changes neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

IGNORE = -100
"""A target that counts for nothing."""

# Logits held at once, in bytes of float32, when nobody says how many positions make a chunk.
_CHUNK_BYTES = 64 * 2**20
_WHOLE_BYTES = 256 * 2**20


class Loss(NamedTuple):
    """The sum of losses in nats, differentiable, and the number of targets that it is a sum over."""

    total: Tensor
    units: int

    def balanced(self, losses: Sequence[Tensor]) -> Loss:
        """With balance losses (experts): each is a mean over the batch; times its units it is a sum like the other."""
        return Loss(self.total + sum(losses) * self.units if losses else self.total, self.units)


def shift(
    ids: Int[Tensor, "B T+1"],
    *,
    real: Bool[Tensor, "B T+1"] | None = None,
    documents: Int[Tensor, "B T+1"] | None = None,
) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B T"]]:
    """(inputs, targets): each token's target is the next one, IGNORE at pads and where another document begins."""
    inputs, targets = ids[:, :-1], ids[:, 1:].clone()
    if real is not None:
        targets[~(real[:, :-1] & real[:, 1:])] = IGNORE
    if documents is not None:
        targets[documents[:, :-1] != documents[:, 1:]] = IGNORE
    return inputs, targets


def cross_entropy(
    logits: Float[Tensor, "*any V"], targets: Int[Tensor, "*any"], *, smoothing: float = 0.0, z: float = 0.0
) -> Loss:
    """Σ −log softmax(logits)[target] over the targets that are not IGNORE, in float32 at least.

    `smoothing` ε moves that share of a target's weight to all V classes alike (Szegedy et al. 2016, arXiv 1512.00567);
    `z` adds z · log² of the partition function (PaLM §5, arXiv 2204.02311). Without any target: an exact, flat zero.
    """
    counted = targets != IGNORE
    return Loss(_total(logits.flatten(0, -2), targets.flatten(), smoothing, z), int(counted.sum()))


def mean_loss(logits: Float[Tensor, "*any V"], targets: Int[Tensor, "*any"]) -> float:
    """Nats a target, as a number."""
    found = cross_entropy(logits, targets)
    return float(found.total) / max(found.units, 1)


def chunked_cross_entropy(
    hidden: Float[Tensor, "*any D"],
    logits_of: Callable[[Float[Tensor, "rows D"]], Float[Tensor, "rows V"]],
    targets: Int[Tensor, "*any"],
    *,
    smoothing: float = 0.0,
    z: float = 0.0,
    chunk: int | None = None,
) -> Loss:
    """`cross_entropy` of `logits_of(hidden)`, whose logits are never held all at once.

    Only positions with a target are projected, `chunk` of them at a time; a chunk's logits are computed again in the
    backward pass. None: all at once while they are small, else as many as fill a few tens of megabytes.
    """
    rows, wanted = hidden.flatten(0, -2), targets.flatten()
    counted = wanted != IGNORE
    units = int(counted.sum())
    if units < len(wanted):
        rows, wanted = rows[counted], wanted[counted]
    chunk = chunk or _positions_a_chunk(units, vocabulary=logits_of(rows[:0]).shape[-1])

    def part(some: Tensor, some_wanted: Tensor) -> Tensor:
        return _total(logits_of(some), some_wanted, smoothing, z)

    if units <= chunk:
        return Loss(part(rows, wanted), units)
    parts = zip(rows.split(chunk), wanted.split(chunk), strict=True)
    return Loss(torch.stack([checkpoint(part, *each, use_reentrant=False) for each in parts]).sum(), units)


def _total(logits: Float[Tensor, "rows V"], targets: Int[Tensor, " rows"], smoothing: float, z: float) -> Tensor:
    logits = logits if logits.dtype == torch.float64 else logits.float()
    total = functional.cross_entropy(logits, targets, ignore_index=IGNORE, label_smoothing=smoothing, reduction="sum")
    if z:
        total = total + z * logits.logsumexp(-1)[targets != IGNORE].square().sum()
    return total


def _positions_a_chunk(positions: int, vocabulary: int) -> int:
    row = 4 * max(vocabulary, 1)
    return max(positions, 1) if positions * row <= _WHOLE_BYTES else max(1, _CHUNK_BYTES // row)
