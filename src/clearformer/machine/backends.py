"""How fast each backend runs a Transformer here, as `speed.backends` measured it: the rates that predict other models.

A matrix product at its peak and a plain read of memory are limits; a model's many small steps reach a part of them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from clearformer.machine.kept import keep
from clearformer.machine.speed import identity

FILE = "backend-speed.json"


@dataclass(frozen=True)
class BackendSpeed:
    """`backend` as `generate` names it, in one number type, on `machine` with `threads` threads.

    `block_s` is what a block takes however small it is; 10^9 operations a second of the products with weights and of
    attention; 10^9 bytes a second at which the weights of one token are read.
    """

    machine: str
    threads: int
    backend: str
    dtype: str
    block_s: float
    linear_gflops: float
    attention_gflops: float
    read_gb_per_s: float


def remember_backends(found: Sequence[BackendSpeed], folder: Path) -> None:
    """Keep what was measured in `folder`, whole or not at all. Raises OSError."""
    keep(folder / FILE, [asdict(each) for each in found])


def remembered_backends(folder: Path) -> tuple[BackendSpeed, ...]:
    """What is kept in `folder` for this machine and this torch; nothing from a damaged file."""
    try:
        kept = [BackendSpeed(**each) for each in json.loads((folder / FILE).read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError):
        return ()
    return tuple(each for each in kept if each.machine == identity())
