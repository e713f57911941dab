"""`clearformer env --measure`: this machine's limits, and what each backend reaches of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import clearformer.machine as machine
from clearformer.cli.screen import Screen
from clearformer.cost.calibrating import BEHIND, LONG, NARROW, SHORT, WIDE, Seconds, solve
from clearformer.cost.work import Dtype
from clearformer.machine.speed import identity
from clearformer.messages import cli as say

if TYPE_CHECKING:
    from clearformer.speed.backends import How


def measure(folder: Path, threads: int, screen: Screen) -> None:
    """Measure, and remember in `folder`."""
    screen.note(say.MEASURING)
    machine.save(machine.measure(), folder)
    machine.remember_backends(backends(threads), folder)


def backends(threads: int) -> list[machine.BackendSpeed]:
    """What `generate` may use on this processor, the plainest first."""
    known = machine.supported_dtypes()
    wanted: tuple[tuple[Dtype, How], ...] = (
        ("float32", "torch"),
        ("bfloat16", "torch"),
        ("bfloat16", "torch-packed"),
        ("float32", "native"),
        ("bfloat16", "native"),
    )
    found = [_backend(dtype, how, threads) for dtype, how in wanted if dtype in known]
    return [each for each in found if each is not None]


def _backend(dtype: Dtype, how: How, threads: int) -> machine.BackendSpeed | None:
    from clearformer.native.library import found
    from clearformer.speed.backends import seconds_of

    number_type = machine.checked_dtype(dtype)
    # Idle threads of torch's would keep the kernels' from the cores.
    with machine.threads_of_torch(1 if how == "native" else threads):
        narrow = seconds_of(NARROW, number_type, how=how, threads=threads, behind=BEHIND, prompts=())
        wide = seconds_of(WIDE, number_type, how=how, threads=threads, behind=BEHIND, prompts=(SHORT, LONG))
    if narrow is None or wide is None:
        return None
    name = f"native-{found().paths[0]}" if how == "native" else how
    return solve(narrow[0], Seconds(*wide), backend=name, dtype=dtype, machine=identity(), threads=threads)
