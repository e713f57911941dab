"""Which attention kernel a run trains with, by timing one step's attention at the run's own sizes.

A fused kernel holds no table of scores; plain products are often faster while the tables fit in memory. The tiled one
holds none either, and leaves out what a mask hides: it gains with long rows, windows, documents, padding or dropout.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from clearformer.layers.kernels import Kernel, attend
from clearformer.layers.mask import Mask
from clearformer.machine import memory
from clearformer.spec import Causal, Full
from clearformer.speed.measurements import Figures, alternating
from clearformer.speed.observation import Attended

LEAST_GAIN = 1.03
"""Below it the kernels are alike, and the one that needs less memory is taken."""
# Score-sized tables of float32 that a plain layer keeps for its backward pass, with its dropout's.
_TABLES, _DROPOUT_TABLES = 1, 2
# Scores of one layer from which tiles are worth their many small steps: below, a table stays in the cache as it is.
_LARGE_TABLE = 2**21


def tables_bytes(attentions: dict[Attended, int]) -> int:
    """What the plain kernel keeps from a forward pass to its backward pass."""
    return sum(
        count * 4 * at.B * at.H * at.T * at.S * (_TABLES + (_DROPOUT_TABLES if at.dropout else 0))
        for at, count in attentions.items()
    )


def fits(attentions: dict[Attended, int]) -> bool:
    """Whether the plain kernel's tables leave half of the free memory free."""
    available = memory().available
    return available is None or tables_bytes(attentions) <= available // 2


def candidates(attentions: dict[Attended, int], device: str) -> tuple[Kernel, ...]:
    """The kernels worth timing: plain where its tables fit, tiled where they are large, on a CPU."""
    large = any(at.B * at.H * at.T * at.S >= _LARGE_TABLE for at in attentions)
    tiled = large and torch.device(device).type == "cpu"
    tried: tuple[tuple[Kernel, bool], ...] = (("plain", fits(attentions)), ("tiled", tiled), ("sdpa", True))
    return tuple(kernel for kernel, wanted in tried if wanted)


def fastest(seconds: Figures) -> Kernel:
    """SDPA unless another gains; the plain kernel, which needs the most memory, only where it gains over both."""
    chosen: Kernel = "sdpa"
    others: tuple[Kernel, ...] = ("tiled", "plain")
    for kernel in others:
        if kernel in seconds and seconds[chosen] >= LEAST_GAIN * seconds[kernel]:
            chosen = kernel
    return chosen


def time_kernels(
    attentions: dict[Attended, int], dtype: torch.dtype, device: str, kernels: tuple[Kernel, ...]
) -> Figures:
    """Seconds of one step's attention, forward and backward, by each kernel."""
    totals: Figures = dict.fromkeys(kernels, 0.0)
    for at, count in attentions.items():
        seconds = alternating({kernel: trial(at, kernel, dtype, device) for kernel in kernels})
        for kernel, each in seconds.items():
            totals[kernel] += count * each
    return totals


def trial(at: Attended, kernel: Kernel, dtype: torch.dtype, device: str) -> Callable[[], None]:
    """One attention of these sizes, with its backward pass, from heads that lie as a projection leaves them."""

    def heads(count: int, length: int, width: int) -> torch.Tensor:
        made = torch.randn(at.B, length, count, width, generator=torch.Generator().manual_seed(count + width))
        return made.to(device, dtype).transpose(1, 2).requires_grad_()

    query, key, value = heads(at.H, at.T, at.K), heads(at.G, at.S, at.K), heads(at.G, at.S, at.U)
    mask = mask_like(at, device)
    pull = torch.ones(at.B, at.T, at.H, at.U, device=device, dtype=dtype).transpose(1, 2)

    def run() -> None:
        mixed = attend(query, key, value, mask, scale=at.K**-0.5, dropout=at.dropout, kernel=kernel)
        torch.autograd.grad(mixed, (query, key, value), pull)

    return run


def mask_like(at: Attended, device: str) -> Mask:
    """A mask that costs what the run's costs: one row in eight is a pad, two documents share a row."""
    queries, keys = (torch.arange(n, device=device)[None] for n in (at.T, at.S))
    real = (keys < at.S - at.S // 8).expand(at.B, -1) if at.padded else None
    halves = (queries * 2 // at.T).expand(at.B, -1) if at.documents else None
    in_order = at.causal or (at.window is not None and not at.padded and not at.documents)
    seen = Causal(at.window) if at.causal or at.documents or at.window is not None else Full()
    return Mask(seen, queries, keys, real, in_order=in_order, documents=halves)
